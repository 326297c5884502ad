// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * How long locks are held. A contended acquisition's hold is always timed. Of the others
 * each one is if they are long, and one in 64 or 256 on average if they are short, because a
 * reading of the clock costs as much as such a hold.
 */
#include "calls.h"

/* Holds at least so long are all timed: some 3 microseconds. */
#define ALL_TIMED 8192
#define RAREST	  64
/* From so many acquisitions on there are samples enough, and they may be four times as rare. */
#define MANY (1u << 14)
/* A site has histograms from this number of acquisitions on, or with one long hold. */
#define USED_OFTEN 16
#define VERY_LONG  (1u << 20)

/* Whether this site's holds are so long that their context switches are counted. */
static bool is_long(const struct rec_site *s)
{
	const struct rec_detail *d = s->detail ? rec_at(s->detail) : NULL;
	const struct rec_timing *u = s->timing ? rec_at(s->timing) : NULL;

	if (d && d->timed && d->timed_held >= d->timed * REC_LONG)
		return true;
	return u && u->weight > u->inner &&
	       u->held >= (u->weight - u->inner) * REC_LONG;
}

struct rec_timed *rec_hold_timed(struct rec_thread *t, struct rec_site *s,
				 struct rec_held *h, u32 weight)
{
	u64 at = (u64)(h - t->held);
	struct rec_timed *timed = &t->timed[at];

	h->record |= REC_TIMED;
	timed->weight = weight;
	timed->event = NULL;
	timed->outer = at ? h[-1].lock : NULL;
	timed->asked = is_long(s);
	if (timed->asked)
		rec_switches(&timed->slept, &timed->preempted);
	timed->start = rec_ticks();
	return timed;
}

void rec_hold_due(struct rec_thread *t, struct rec_site *s, struct rec_held *h)
{
	const struct rec_timing *u;

	if (s == &t->lost) {
		++*t->dropped;
		s->counted = 1;
		return;
	}
	u = rec_timing(t, s);
	s->counted += u ? u->gap : RAREST;
	if (u)
		rec_hold_timed(t, s, h, (u32)u->gap);
}

/* Not a fixed distance: a program that repeats itself would meet it in step. */
static u64 next_gap(struct rec_thread *t, const struct rec_site *s, u64 gap,
		    u64 hold)
{
	u64 rarest = rec_site_count(s) < MANY ? RAREST : 4 * RAREST;

	if (hold >= ALL_TIMED)
		return 1;
	if (gap < rarest / 2)
		return gap * 2;
	return rarest / 2 + rec_random(t) % rarest;
}

/* A gap is below 2^16. Acquisitions that came during the hold are a part of it already. */
static void set_gap(struct rec_site *s, struct rec_timing *u, u64 gap)
{
	u64 left = s->counted & REC_COUNT_ONE;
	u64 since = u->gap > left ? u->gap - left : 0;
	u64 next = gap > since ? gap - since : 1;

	s->counted += next - left;
	u->gap = since + next;
}

static void count_switches(const struct rec_timed *h, struct rec_site *s)
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

bool rec_holds(const struct rec_thread *t, const void *lock)
{
	for (u32 i = t->depth; i--;) {
		if (t->held[i].lock == lock)
			return true;
	}
	return false;
}

/* Not if locks are taken hand over hand: then the outer one ends before the inner one. */
static void count_inside(struct rec_thread *t, const struct rec_site *s,
			 const struct rec_timed *timed)
{
	u32 of = timed->weight ? timed->weight : 1;

	if (timed->outer && s->lock && rec_holds(t, timed->outer))
		rec_inside(t, s, timed->outer, of, 0);
}

void rec_count_inner(struct rec_thread *t, struct rec_site *s,
		     const struct rec_timed *timed)
{
	struct rec_timing *u = timed->weight ? rec_timing(t, s) : NULL;

	count_inside(t, s, timed);
	if (!u)
		return;
	u->weight += timed->weight;
	u->inner += timed->weight;
	set_gap(s, u, next_gap(t, s, u->gap, 0));
}

void rec_count_hold(struct rec_thread *t, struct rec_site *s,
		    const struct rec_timed *timed, u64 hold)
{
	u32 weight = timed->weight, of = weight ? weight : 1;
	struct rec_detail *d = s->detail ? rec_at(s->detail) : NULL;
	struct rec_timing *u = weight ? rec_timing(t, s) : NULL;

	if (!d &&
	    (rec_site_count(s) >= USED_OFTEN || hold >= VERY_LONG || !weight))
		d = rec_detail(t, s);
	if (u) {
		u->held += hold * weight;
		u->weight += weight;
		set_gap(s, u, next_gap(t, s, u->gap, hold));
	} else if (d) {
		d->timed++;
		d->timed_held += hold;
	}
	count_inside(t, s, timed);
	if (!d)
		return;
	rec_bucket(d->hold, hold, of);
	if (hold > d->longest_hold)
		d->longest_hold = hold;
	count_switches(timed, s);
}

void rec_failed(struct rec_thread *t, struct rec_site *s)
{
	struct rec_detail *d = rec_detail(t, s);

	if (d)
		d->failed++;
}
