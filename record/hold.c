// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * How long locks are held. A contended acquisition's hold is always timed. Of the others
 * each one is if they are long, and one in 64 on average if they are short, because a
 * reading of the clock costs as much as such a hold.
 */
#include "calls.h"

/* Holds at least so long are all timed: some 3 microseconds. */
#define ALL_TIMED 8192
#define RAREST	  64
/* A site has histograms from this number of acquisitions on, or with one long hold. */
#define USED_OFTEN 16
#define VERY_LONG  (1u << 20)

/* Whether this site's holds are so long that their context switches are counted. */
static bool is_long(const struct rec_site *s)
{
	const struct rec_detail *d = s->detail ? rec_at(s->detail) : NULL;

	if (d && d->timed && d->timed_held >= d->timed * REC_LONG)
		return true;
	return s->weight && s->held >= s->weight * REC_LONG;
}

void rec_hold_timed(struct rec_thread *t, struct rec_site *s,
		    struct rec_held *h, u32 weight)
{
	struct rec_owner *o = rec_owner_of(h->lock);

	h->weight = weight;
	h->event = NULL;
	if (weight)
		s->since = 0;
	/* Nobody waits now, or we would have waited too; who comes says so again. */
	if (weight && READ_ONCE(o->wanted) && !rec_waiters(h->lock, t->number))
		WRITE_ONCE(o->wanted, 0);
	h->asked = is_long(s);
	if (h->asked)
		rec_switches(&h->slept, &h->preempted);
	h->start = rec_ticks();
}

/* Not a fixed distance: a program that repeats itself would meet it in step. */
static u32 next_gap(struct rec_thread *t, u32 gap, u64 hold)
{
	if (hold >= ALL_TIMED)
		return 1;
	if (gap < RAREST / 2)
		return gap ? gap * 2 : 1;
	return RAREST / 2 + rec_random(t) % RAREST;
}

static void count_hold(struct rec_thread *t, struct rec_site *s, u32 weight,
		       u64 hold)
{
	struct rec_detail *d = s->detail ? rec_at(s->detail) : NULL;

	if (!d && (s->count >= USED_OFTEN || hold >= VERY_LONG || !weight))
		d = rec_detail(t, s);
	if (weight) {
		s->held += hold * weight;
		s->weight += weight;
		s->gap = next_gap(t, s->gap, hold);
	} else if (d) {
		d->timed++;
		d->timed_held += hold;
	}
	if (!d)
		return;
	rec_bucket(d->hold, hold, weight ? weight : 1);
	if (hold > d->longest_hold)
		d->longest_hold = hold;
}

static void count_switches(const struct rec_held *h, struct rec_site *s)
{
	struct rec_detail *d = s->detail ? rec_at(s->detail) : NULL;
	u64 slept, preempted;

	if (!d || !h->asked)
		return;
	rec_switches(&slept, &preempted);
	d->holds_asked++;
	d->holds_slept += slept - h->slept;
	d->holds_preempted += preempted - h->preempted;
}

struct rec_site *rec_release_slow(struct rec_thread *t, void *lock)
{
	u64 now = rec_ticks();
	u32 at = t->depth;
	struct rec_held h;

	while (at && t->held[at - 1].lock != lock)
		at--;
	if (!at) {
		t->info->unknown++;
		return NULL;
	}
	h = t->held[at - 1];
	for (; at < t->depth; at++)
		t->held[at - 1] = t->held[at];
	t->depth--;
	if (h.start) {
		t->away = h.record;
		t->away_since = now;
		t->away_weight = h.weight ? h.weight : 1;
		count_hold(t, h.record, h.weight,
			   now > h.start ? now - h.start : 0);
		count_switches(&h, h.record);
		if (h.event)
			rec_event_end(t, h.event, now);
		else if (READ_ONCE(rec_owner_of(lock)->wanted))
			rec_event_hold(t, h.record, h.start, now);
	}
	return h.record;
}

/* Calls for other locks in between belong to the time that the thread is away. */
void rec_came_back(struct rec_thread *t, const struct rec_site *s)
{
	struct rec_site *from = t->away;
	struct rec_detail *d = from->detail ? rec_at(from->detail) : NULL;
	u64 now = rec_ticks();

	if (from->lock != s->lock)
		return;
	t->away = NULL;
	if (d)
		rec_bucket(d->away,
			   now > t->away_since ? now - t->away_since : 0,
			   t->away_weight);
}

void rec_failed(struct rec_thread *t, struct rec_site *s)
{
	struct rec_detail *d = rec_detail(t, s);

	if (d)
		d->failed++;
}
