/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_ONCE_H
#define LKP_ONCE_H

/*
 * What is found out once in a process. Nobody waits for another: that one may be gone,
 * in a forked child, or be what a signal handler interrupted. So each thread that
 * finds it undone does it, and all of them come to the same.
 */
#include <platform.h>

/* 0 not begun, 1 begun, 2 done. */
struct lkp_once {
	u32 state;
};

static inline bool lkp_once_is_done(const struct lkp_once *once)
{
	/* [once.B] ACQUIRE, pairs with once.A: see what was found. */
	return likely(smp_load_acquire(&once->state) == 2);
}

/* True for the first: it alone may speak to the user. */
static inline bool lkp_once_begin(struct lkp_once *once)
{
	u32 none = 0;

	/* Orders nothing: it decides which thread speaks. */
	return try_cmpxchg_relaxed(&once->state, &none, 1);
}

static inline void lkp_once_done(struct lkp_once *once)
{
	/* [once.A] RELEASE, pairs with once.B. */
	smp_store_release(&once->state, 2);
}

/* Makes *@word, 0 until somebody decides, @value. Returns what was decided. */
static inline u32 lkp_decide(u32 *word, u32 value)
{
	u32 now = 0;

	/* Orders nothing: the decision is all there is. */
	return try_cmpxchg_relaxed(word, &now, value) ? value : now;
}

#endif
