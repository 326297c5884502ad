// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * How long locks are held. A contended acquisition's hold is always timed. Of the others
 * each one is if they are long on average. If they are short, because a reading of the clock
 * costs as much as such a hold, one of a block is that stands for all of it: the shorter they
 * are, the longer the block. Which one is left to chance. So a program that repeats itself
 * does not meet the samples in step.
 */
#include "calls.h"
#include "stack.h"

/* Are they at least so long on average, all are timed: some 3 microseconds. */
#define ALL_TIMED 8192
/* The holds of a block are so long together, and no more in number. */
#define BLOCK	8192
#define LARGEST 64
/*
 * From so many acquisitions of a thread, and of the site, on there are samples enough: a block
 * may have four times as many holds, and sixteen times as much time.
 */
#define MANY	     (1u << 14)
#define MANY_AT_SITE (1u << 9)
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
	if (timed->asked)
		rec_switches(&timed->slept, &timed->preempted);
	timed->start = start ? start : rec_ticks();
	return timed;
}

/* By the mean of those before, and at most twice as large as the last one. */
static u16 next_block(const struct rec_thread *t, const struct rec_site *s,
		      const struct rec_timing *u)
{
	bool many = t->acquired >= MANY && rec_site_count(s) >= MANY_AT_SITE;
	u64 rare = many ? 4 : 1;
	u64 holds = u->weight - u->inner;
	u64 mean = holds ? u->held / holds : 0;
	u64 block = rare * rare * BLOCK / (mean + 1);

	/* Each acquisition comes here, so each has its stack, and its hold is timed. */
	if (rec_all_stacks || !u->weight || mean >= ALL_TIMED)
		return 1;
	if (block > rare * LARGEST)
		block = rare * LARGEST;
	return (u16)(block < 2 * u->block ? block : 2 * u->block);
}

void rec_hold_due(struct rec_thread *t, struct rec_site *s, struct rec_held *h)
{
	struct rec_timing *u;
	u32 weight, at;

	if (s == &t->lost) {
		++*t->dropped;
		s->counted = 1;
		return;
	}
	if (rec_all_stacks)
		rec_stack_taken(t, s);
	u = rec_timing(t, s);
	if (!u) {
		s->counted += LARGEST;
		return;
	}
	weight = u->block;
	t->acquired += weight;
	u->block = next_block(t, s, u);
	at = rec_random(t) % u->block;
	s->counted += u->rest + at + 1;
	u->rest = (u16)(u->block - 1 - at);
	rec_hold_timed(t, s, h, weight, 0);
}

void rec_took_more(struct rec_thread *t, struct rec_site *s, struct rec_held *h)
{
	if (rec_has_flag(h->lock))
		rec_show_holder(t, s, h->lock);
	if (!(s->counted & REC_COUNT_ONE))
		rec_hold_due(t, s, h);
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
