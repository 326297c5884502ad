/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_TAS_LOCK_H
#define LK_TAS_LOCK_H

/*
 * Test-and-set byte lock: unfair, one byte, no queue.
 *   0 --lock--> 1 --unlock--> 0
 * Invariant: the thread that changed 0 to 1 holds it. No order among waiters, no
 * bound on a wait. Waiters read until the byte is 0 before they try the RMW
 * (test-and-test-and-set: Rudolph & Segall, ISCA 1984).
 */
#include <platform.h>

struct lk_tas {
	u8 locked;
};

static inline bool lk_tas_trylock(struct lk_tas *lock)
{
	/* [tas.A] ACQUIRE, pairs with tas.B: see the last holder's writes. */
	return !READ_ONCE(lock->locked) && !xchg_acquire(&lock->locked, 1);
}

static inline void lk_tas_lock(struct lk_tas *lock)
{
	while (unlikely(!lk_tas_trylock(lock)))
		smp_cond_load_relaxed(&lock->locked, !VAL);
}

static inline void lk_tas_unlock(struct lk_tas *lock)
{
	/* [tas.B] RELEASE, pairs with tas.A: publish the critical section. */
	smp_store_release(&lock->locked, 0);
}

#endif
