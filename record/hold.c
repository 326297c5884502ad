// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Holds that are timed: which these are is in sampled.c. */
#include "calls.h"

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
				 struct rec_held *h, u32 weight, u64 start)
{
	u64 at = (u64)(h - t->held);
	struct rec_timed *timed = &t->timed[at];

	h->record |= REC_TIMED;
	timed->weight = weight;
	timed->event = NULL;
	timed->outer = at ? h[-1].lock : NULL;
	timed->asked = is_long(s);
	if (timed->asked) {
		rec_switches(&timed->slept, &timed->preempted);
		timed->cpu = rec_cpu_time();
	}
	timed->start = start ? start : rec_ticks();
	return timed;
}

static void count_switches(const struct rec_timed *h, struct rec_site *s,
			   u64 hold)
{
	struct rec_detail *d = s->detail ? rec_at(s->detail) : NULL;
	u64 slept, preempted;

	if (!d || !h->asked)
		return;
	rec_switches(&slept, &preempted);
	d->holds_asked++;
	d->holds_slept += slept - h->slept;
	d->holds_preempted += preempted - h->preempted;
	d->asked_held += hold;
	d->asked_cpu += rec_cpu_time() - h->cpu;
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
		u->held += rec_without_rare(u, d, hold, weight) * weight;
		u->weight += weight;
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
	count_switches(timed, s, hold);
}

void rec_met_hold(struct rec_thread *t, struct rec_site *s, bool is_timed,
		  u64 hold)
{
	struct rec_detail *d = rec_detail(t, s);

	if (!d)
		return;
	d->met++;
	d->met_held += hold;
	if (is_timed)
		return;
	if (hold > d->longest_hold)
		d->longest_hold = hold;
	if (s->timing)
		rec_rare_hold(rec_at(s->timing), d, hold);
}

void rec_failed(struct rec_thread *t, struct rec_site *s)
{
	struct rec_detail *d = rec_detail(t, s);

	if (d)
		d->failed++;
}
