// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A hold ends: what is noted before the lock is given up, and what is counted behind that. */
#include "calls.h"

/* Takes the entry at @at out of the list of what @t holds. */
static void remove_at(struct rec_thread *t, u32 at)
{
	for (at++; at < t->depth; at++) {
		t->held[at - 1] = t->held[at];
		t->timed[at - 1] = t->timed[at];
	}
	WRITE_ONCE(t->depth, t->depth - 1);
}

/* Takes it off the list of what @t holds; false: it is not there. */
static bool take_off(struct rec_ended *e, struct rec_thread *t, void *lock)
{
	u32 at = t->depth;

	while (at && t->held[at - 1].lock != lock)
		at--;
	if (!at)
		return false;
	e->s = rec_held_record(&t->held[at - 1]);
	e->is_timed = t->held[at - 1].record & REC_TIMED;
	if (e->is_timed)
		e->timed = t->timed[at - 1];
	remove_at(t, at - 1);
	return true;
}

/*
 * One that nobody can take off again: of a lock that was destroyed while it was held, or that
 * another thread has released; or it is one of more locks than are followed.
 */
void rec_forget_oldest(struct rec_thread *t)
{
	u32 at = 0;

	while (at < t->depth - 1 && t->held[at].lock)
		at++;
	if (t->held[at].lock) {
		t->info->deep++;
		at = 0;
	}
	remove_at(t, at);
}

void rec_release_begin(struct rec_ended *e, struct rec_thread *t, void *lock)
{
	/* First: what is done here is no part of the hold. */
	u64 now = rec_ticks();
	struct rec_wanted *w = &rec_wanted[rec_wanted_at(lock)];
	bool flag = rec_has_flag(lock);

	e->s = NULL;
	e->is_timed = false;
	if (!take_off(e, t, lock)) {
		t->info->unknown++;
		rec_released_for_another(t, lock);
	}
	if (t->woken_mutex == lock)
		t->woken_mutex = NULL;
	if (unlikely(t->asked.lock == lock && lock))
		rec_wrapper_answer(t);
	/* A recursive lock that is held on: nobody gets it now. */
	e->is_inner = rec_holds(t, lock);
	flag = flag && !e->is_inner;
	/* The flag may be that of another lock. */
	e->flag = flag ? w : NULL;
	e->is_wanted = flag && rec_has_entry(lock);
	e->now = now;
	e->met = 0;
	if (!e->is_wanted)
		return;
	WRITE_ONCE(w->released, now);
	if (e->s)
		e->met = rec_met_since(w, e->s, now);
}

void rec_release_end(struct rec_ended *e, struct rec_thread *t)
{
	const struct rec_timed *h = &e->timed;
	u64 hold;

	if (e->flag)
		rec_wanted_released(e->flag, t);
	if (!e->s)
		return;
	if (!e->is_timed) {
		if (e->is_wanted)
			rec_event_hold(t, e->s, 0, e->now);
		if (e->met)
			rec_met_hold(t, e->s, false, e->now - e->met);
		return;
	}
	if (e->is_inner) {
		rec_count_inner(t, e->s, h);
		if (h->event)
			rec_event_end(t, h->event, e->now);
		return;
	}
	t->away = (void *)e->s->lock;
	t->away_from = e->s;
	t->away_since = e->now;
	t->away_weight = h->weight ? h->weight : 1;
	hold = e->now > h->start ? e->now - h->start : 0;
	rec_count_hold(t, e->s, h, hold);
	if (e->met)
		rec_met_hold(t, e->s, true, hold);
	if (h->event)
		rec_event_end(t, h->event, e->now);
	else if (e->is_wanted)
		rec_event_hold(t, e->s, h->start, e->now);
}

/* Calls for other locks in between belong to the time that the thread is away. */
void rec_came_back(struct rec_thread *t)
{
	struct rec_site *from = t->away_from;
	struct rec_detail *d = from->detail ? rec_at(from->detail) : NULL;
	u64 now = rec_ticks();

	t->away = NULL;
	if (d)
		rec_bucket(d->away,
			   now > t->away_since ? now - t->away_since : 0,
			   t->away_weight);
}
