/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_ADAPT_CHOICE_H
#define LK_ADAPT_CHOICE_H

/*
 * The choice between ways to wait for one lock: arithmetic alone, without atomics.
 *
 * A window is a short time in which all threads wait in one way. Its result is the
 * number of acquisitions in it, by all threads, and its length. Time is in units of
 * 1,024 ns.
 *
 *   best --probe is due--> other, one window --is it better?--> other, one more
 *   other --better in adapt_proof() windows in a row--> it is the best
 *   other --not better--> best
 *
 * After each probe there are four times as many windows to the next one, up to a limit. A
 * probe ends early if it is much slower than the best way. The best way is known by its
 * last 16 windows or so, because one may be spoiled: a holder that loses its CPU stops all
 * for milliseconds. Another way is known by its present probe alone.
 *
 * Two ways are compared by acquisitions per time, each with a weight. The shorter the
 * waits in a way, the higher its weight: a waiter that spins gets a free lock within a
 * microsecond, one that sleeps within some tens, and one that rests within a rest. To
 * become the best, a way has to be better by 3 % beyond that, so that two equal ways do
 * not take turns.
 *
 * Written from: no text. The ways themselves have sources in adapt.h.
 */
#include <platform.h>

enum lk_way {
	LK_WAY_SPIN, /* spin, then sleep */
	LK_WAY_SLEEP, /* sleep at once; an unlock wakes the first sleeper at once */
	LK_WAY_REST, /* as SLEEP, but unlocks wake nobody: see adapt.h */
	LK_WAYS,
};

/* A window with so many acquisitions is over. In user space the count wraps at twice that. */
#define LK_ADAPT_ENOUGH 65536u

/* All zero: nothing is known, and spinning is the best way. */
struct lk_choice {
	u32 turns[LK_WAYS]; /* acquisitions, */
	u32 time[LK_WAYS];  /* in this time */
	u32 windows;	    /* that ended */
	u32 probe_at;	    /* the next probe is due after so many */
	u16 gap;	    /* windows between two probes */
	u8 best;
	u8 probed; /* the way that was probed last */
	u8 proof;  /* windows in which the present probe was better */
};

/* Whether @a is a better way than the present best. */
static inline bool lk_choice_is_better(const struct lk_choice *c, u32 a)
{
	static const u8 weight[LK_WAYS] = { 34, 33, 32 };
	u32 b = c->best;

	return (u64)c->turns[a] * weight[a] * c->time[b] >
	       (u64)c->turns[b] * (weight[b] + 1u) * c->time[a];
}

static inline void lk_choice_add(struct lk_choice *c, u32 way, u32 turns,
				 u32 time)
{
	if (way != c->best && !c->proof)
		c->turns[way] = c->time[way] = 0;
	c->turns[way] += turns - c->turns[way] / 16;
	c->time[way] += time - c->time[way] / 16;
}

/* Whether the window of @way, so far @turns in @time, has lasted long enough. */
static inline bool lk_choice_is_over(const struct lk_choice *c, u32 way,
				     u32 turns, u32 time)
{
	u32 window = adapt_window();

	if (time >= window || turns >= LK_ADAPT_ENOUGH)
		return true;
	return way != c->best && time >= window / 4 &&
	       (u64)turns * 4 * c->time[c->best] <
		       (u64)c->turns[c->best] * 3 * time;
}

/* The next way to probe, below @ways: each one in turn. */
static inline u32 lk_choice_probe(struct lk_choice *c, u32 ways)
{
	u32 most = adapt_max_gap();

	c->probe_at = c->windows + c->gap;
	c->gap = (u16)(c->gap < most / 4 ? c->gap * 4u : most);
	do {
		c->probed = (u8)((c->probed + 1u) % ways);
	} while (c->probed == c->best);
	return c->probed;
}

/*
 * A window of @way has ended: @turns in @time. Returns the way of the next one, below
 * @ways. While no acquisition has been counted, the best way stays.
 */
static inline u32 lk_choice_next(struct lk_choice *c, u32 way, u32 turns,
				 u32 time, u32 ways)
{
	lk_choice_add(c, way, turns, time);
	c->windows++;
	if (way != c->best && lk_choice_is_better(c, way)) {
		if (++c->proof < adapt_proof())
			return way;
		c->best = (u8)way;
		c->gap = 0;
	}
	c->proof = 0;
	if (!c->gap) {
		c->gap = (u16)adapt_min_gap();
		/* The lock may be contended for a moment only. */
		c->probe_at = c->windows + adapt_first();
	}
	if (c->windows < c->probe_at || !c->turns[c->best])
		return c->best;
	return lk_choice_probe(c, ways);
}

#endif
