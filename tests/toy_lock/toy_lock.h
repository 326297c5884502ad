/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_TOY_LOCK_H
#define LK_TOY_LOCK_H

/*
 * Toy lock: 4 bytes, unfair, no queue. Not one of the locks: the pattern of a
 * new one, which a test adds to a copy of the sources (CONTRIBUTING.md).
 *   0 --lock--> 1 --unlock--> 0
 * Invariant: whoever changed 0 to 1 holds it.
 */
#include <platform.h>

struct lk_toy {
	u32 held;
};

static inline void lk_toy_lock(struct lk_toy *lock)
{
	/* [toy.A] ACQUIRE, pairs with toy.B: see the last holder's writes. */
	while (unlikely(xchg_acquire(&lock->held, 1)))
		smp_cond_load_relaxed(&lock->held, !VAL);
}

static inline void lk_toy_unlock(struct lk_toy *lock)
{
	/* [toy.B] RELEASE, pairs with toy.A: publish the critical section. */
	smp_store_release(&lock->held, 0);
}

#endif
