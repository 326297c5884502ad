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
/* A hold so many times as long as the mean is rare. */
#define RARE 32

/* The mean of those that are not rare. */
static u64 usual_hold(const struct rec_timing *u)
{
	u64 holds = u->weight - u->inner;

	return holds ? u->held / holds : 0;
}

/* By the mean of those before, and at most twice as large as the last one. */
static u16 next_block(const struct rec_thread *t, const struct rec_site *s,
		      const struct rec_timing *u)
{
	bool many = t->acquired >= MANY && rec_site_count(s) >= MANY_AT_SITE;
	u64 fewer = many ? 4 : 1;
	const struct rec_detail *d = s->detail ? rec_at(s->detail) : NULL;
	u64 mean = usual_hold(u), block;

	if (d && d->rare)
		mean += d->rare_held / (u->weight - u->inner);
	block = fewer * fewer * BLOCK / (mean + 1);

	/* Each acquisition comes here, so each has its stack, and its hold is timed. */
	if (rec_all_stacks || !u->weight || mean >= ALL_TIMED)
		return 1;
	if (block > fewer * LARGEST)
		block = fewer * LARGEST;
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

/*
 * One that stands for several and is far longer than these: what it has more may stand for
 * nothing but itself, as where a thread has lost its CPU. If there are several, the reader
 * weights them.
 */
u64 rec_without_rare(const struct rec_timing *u, struct rec_detail *d, u64 hold,
		     u32 weight)
{
	u64 most = RARE * usual_hold(u);

	if (weight == 1 || !d || !most || hold <= most)
		return hold;
	d->rare++;
	d->rare_held += (hold - most) * weight;
	d->rare_once += hold - most;
	return most;
}

void rec_rare_hold(const struct rec_timing *u, struct rec_detail *d, u64 hold)
{
	u64 most = RARE * usual_hold(u);

	if (hold <= most)
		return;
	d->rare++;
	d->rare_held += hold;
	d->rare_once += hold;
	rec_bucket(d->hold, hold, 1);
}
