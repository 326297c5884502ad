// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A contended acquisition: who held the lock, who else waits, how long it took. */
#define _GNU_SOURCE
#include "calls.h"
#include "stack.h"

/* Waits shorter than this are over before a thread can have slept. */
#define NO_SLEEP 4096

/* That a thread sleeps for another lock is no sleep of its sections: their switches do not count. */
static void unwatch_holds(struct rec_thread *t)
{
	for (u32 i = 0; i < t->depth; i++)
		t->timed[i].asked = 0;
}

void rec_wait_begin(struct rec_waiting *w, struct rec_thread *t,
		    struct rec_site *s, void *lock)
{
	struct rec_detail *d = rec_detail(t, s);

	rec_busy(t);
	unwatch_holds(t);
	/* One by one: to clear it all first takes longer than the rest. */
	w->lock = lock;
	w->wanted = &rec_wanted[rec_wanted_at(lock)];
	w->stack = NULL;
	t->asked.lock = NULL; /* also one about a lock that it holds */
	t->asked.at = 0;
	w->queue = 0;
	w->slept = 0;
	w->preempted = 0;
	w->back = false;
	w->stands_for = rec_stands_for(t, d);
	w->holder = rec_find_holder(t, lock, &w->holder_site, w->stands_for);
	if (w->stands_for || rec_all_stacks)
		w->stack = rec_stack_of(t, s, REC_BEFORE_WAIT);
	if (w->stands_for) {
		rec_switches(&w->slept, &w->preempted);
		w->queue = rec_waiters(lock, t->number);
	}
	w->since = rec_ticks();
	rec_announce(w, t, s);
	if (w->stands_for)
		rec_still_wanted(lock);
	t->inside = 1;
	rec_idle(t);
}

/* Who is to blame, and inside which lock this happened: records that are seldom in a cache. */
static void blame(const struct rec_waiting *w, struct rec_thread *t,
		  struct rec_site *s, u64 waited)
{
	u32 of = waited >= REC_LONG_WAIT ? 1 : w->stands_for;
	struct rec_blame *b;

	if (!of)
		return;
	b = rec_blame(t, s, w->holder_site, w->holder);
	if (b) {
		b->count += of;
		b->waited += waited * of;
	}
	if (t->depth && s->lock && t->held[t->depth - 1].lock)
		rec_inside(t, s, t->held[t->depth - 1].lock, 0, waited * of);
}

static void count_wait(struct rec_waiting *w, struct rec_thread *t,
		       struct rec_site *s, u64 waited)
{
	struct rec_detail *d = rec_detail(t, s);

	blame(w, t, s, waited);
	if (!d)
		return;
	rec_stack_waited(t, s, d, w, waited);
	rec_count_time(d, waited);
	if (w->stands_for)
		rec_count_queue(d, w->queue, w->stands_for);
}

static void count_switches(struct rec_waiting *w, struct rec_detail *d,
			   u64 waited)
{
	u64 slept = w->slept, preempted = w->preempted;

	if (!d || !w->stands_for)
		return;
	if (waited >= NO_SLEEP)
		rec_switches(&slept, &preempted);
	d->watched++;
	d->watched_for += w->stands_for;
	d->slept += (slept - w->slept) * w->stands_for;
	d->preempted += (preempted - w->preempted) * w->stands_for;
}

/* From the release to now, if a release was seen while we waited. */
static void count_handover(const struct rec_waiting *w, struct rec_detail *d,
			   u64 now)
{
	u64 released = READ_ONCE(w->wanted->released);

	if (!d || released < w->since || released > now)
		return;
	d->handovers++;
	d->handovers_for += w->stands_for;
	d->handover += (now - released) * w->stands_for;
	rec_bucket(d->handover_time, now - released, w->stands_for);
}

/*
 * Nobody was seen to hold it when the wait began, as where a lock is handed to a thread that has
 * yet to wake up. Then the holder is the last one that was seen to take it.
 */
static void last_holder(struct rec_waiting *w, const struct rec_thread *t)
{
	u32 holder;

	if (w->holder || !rec_is_wanted_for(w->lock))
		return;
	holder = READ_ONCE(w->wanted->thread);
	if (!holder || holder == t->number + 1)
		return;
	w->holder_site = READ_ONCE(w->wanted->site) & REC_ADDRESS;
	w->holder = w->holder_site ? holder : 0;
}

static void count_acquisition(struct rec_thread *t, struct rec_site *s)
{
	rec_site_add(s);
	if (s == &t->lost)
		++*t->dropped;
}

void rec_wait_end(struct rec_waiting *w, struct rec_thread *t,
		  struct rec_site *s, int err)
{
	u64 now = rec_ticks(), waited = now > w->since ? now - w->since : 0;
	struct rec_held *h;
	struct rec_timed *timed;
	struct rec_detail *d;

	t->inside = 0;
	rec_wait_clear(t);
	if (!rec_has_taken(err) && err != ETIMEDOUT)
		return;
	last_holder(w, t);
	count_wait(w, t, s, waited);
	d = rec_detail(t, s);
	count_switches(w, d, waited);
	if (err == ETIMEDOUT) {
		if (d)
			d->timeouts++;
		rec_event_wait(t, s, w, now, err);
		return;
	}
	if (!w->back)
		count_acquisition(t, s);
	if (w->stands_for && rec_has_entry(w->lock))
		count_handover(w, d, now);
	h = rec_hold(t, s, w->lock);
	if (t->asked.at)
		t->asked.lock = w->lock;
	timed = rec_hold_timed(t, s, h, 0, now);
	if (w->back)
		timed->outer = NULL;
	timed->event = rec_event_wait(t, s, w, now, err);
}

int rec_wait(struct rec_thread *t, struct rec_site *s, void *lock,
	     rec_full *full)
{
	struct rec_waiting w;
	int err;

	rec_wait_begin(&w, t, s, lock);
	err = full(lock);
	rec_wait_end(&w, t, s, err);
	return err;
}
