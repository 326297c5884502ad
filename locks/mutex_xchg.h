/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_MUTEX_XCHG_H
#define LK_MUTEX_XCHG_H

/*
 * The sleeping mutex as it was before it read first: 24 bytes. A baseline.
 *
 *   word       0 free, 1 held, more: held, and its unlock has to look
 *   owner      hint: the CPU of the holder; bit 31: nobody, or not known
 *   first      sleepers, by priority, then FIFO; on their stacks; under wait_lock
 *   epoch      the fork epoch that first and wait_lock belong to
 *
 *   0 --lock--> 1 --unlock--> 0                      one RMW, one RMW
 *   1 --arrival--> 2 --another--> 3 ...              each adds before it spins
 *   n --sleeper, when queued and each round--> 2     an exchange, no read first
 *   n --unlock--> n-1 --under wait_lock--> 0 + wake  the sleeper tries again
 *
 * Invariants:
 *  1. A thread that changes word from 0 holds. A held word becomes 0 by its holder only.
 *  2. While somebody is on the list, the first is awake, or the word is 2 or
 *     more and held: then the unlock finds it so and takes wait_lock.
 *  3. A sleeper's state and the list change under wait_lock. Only the first is
 *     woken, and only a woken sleeper tries again.
 *
 * No hand-off: arrivals and spinners may pass the sleepers for ever. No queue
 * of spinners. No time limits. An unlock looks at the mutex after freeing it, so
 * this one is for mutex_outlives_unlock() only. Not for signal handlers: one
 * that interrupts a wait_lock section of the same mutex would wait for itself.
 *
 * A sleeper exchanges once when it has queued, and once more in each round of its
 * wait loop, the first round included. So two exchanges come before it sleeps.
 *
 * Source: the state before "mutex: Make more scalable by doing less atomic
 * operations", as that mail describes it (Waiman Long, v2 1/3, 2013-04-15). Its
 * word counts 1, 0 and down from there.
 */
#include "tas_lock.h"
#include "wait_ring.h"

#define LK_MX_FREE   0u
#define LK_MX_HELD   1u
#define LK_MX_WANTED 2u

#define LK_MX_NOBODY (1u << 31)

struct lk_mutex_xchg {
	atomic_t word;
	u32 owner;
	struct lk_ring *first;
	struct lk_tas wait_lock;
	u8 epoch;
};

/* clang-format off */
#define LK_MUTEX_XCHG_INIT { ATOMIC_INIT(LK_MX_FREE), LK_MX_NOBODY, NULL, { 0 }, 0 }
/* clang-format on */

void lk_mutex_xchg_lock_slow(struct lk_mutex_xchg *m);
void lk_mutex_xchg_unlock_slow(struct lk_mutex_xchg *m);

/* One compare-and-exchange, whatever the word is. */
static inline bool lk_mutex_xchg_trylock(struct lk_mutex_xchg *m)
{
	u32 word = LK_MX_FREE;

	/* [mutex_xchg.A] ACQUIRE, pairs with mutex_xchg.B and .C. */
	if (!atomic_try_cmpxchg_acquire(&m->word, &word, LK_MX_HELD))
		return false;
	WRITE_ONCE(m->owner, next_owner(0));
	return true;
}

static inline void lk_mutex_xchg_lock(struct lk_mutex_xchg *m)
{
	/* [mutex_xchg.A] */
	if (likely(atomic_add_return_acquire(1, &m->word) == LK_MX_HELD))
		WRITE_ONCE(m->owner, next_owner(0));
	else
		lk_mutex_xchg_lock_slow(m);
}

static inline void lk_mutex_xchg_unlock(struct lk_mutex_xchg *m)
{
	WRITE_ONCE(m->owner, LK_MX_NOBODY);
	/* [mutex_xchg.B] RELEASE, pairs with mutex_xchg.A: publish the section.
	 * What is left says that the mutex is still held, and wanted. */
	if (unlikely(atomic_sub_return_release(1, &m->word)))
		lk_mutex_xchg_unlock_slow(m);
}

#endif
