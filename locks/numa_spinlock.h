/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_SPINLOCK_H
#define LK_NUMA_SPINLOCK_H

/*
 * NUMA-aware spinlock: 8 bytes. Its waiters queue in a numa_osq, which divides itself by
 * clusters of CPUs while it is long; the head of the queue waits for the lock.
 *
 *   (tail, locked), n any node:
 *
 *   (0, 0) -> (0, 1)   nobody waits: the fast path
 *   (t, 1) -> (t, 0)   the holder unlocks
 *   (n, 0) -> (n, 1)   the head of the queue takes it, by a store
 *   (t, l) -> (u, l)   steps of the queue: numa_osq.h
 *
 * The head hands the queue over once it has the lock. So the next head waits for the
 * lock already when it is free.
 *
 * But the head of a divided queue keeps that where few threads share a cluster, and has
 * the lock while it does: it writes nothing here, and unlocks by handing the queue over.
 * So its cluster still has a thread in the queue, and gets the lock more often in a
 * row; and between clusters the next holder's node moves, not the lock's line too.
 *
 * Held: locked is 1, or the head has seen it 0 and keeps the queue.
 *
 * Invariants:
 *  1. locked is set from 0 by the head of the queue; or by a thread that saw no queue
 *     in the same step. While a head is there the tail is not 0. So it takes the lock
 *     by a store, and nobody does while it keeps the queue.
 *  2. Arrivals pass nobody that queues.
 *  3. The thread that has locked unlocks.
 *
 * The lock must stay allocated until every unlock of it has returned. An unlock that hands
 * over a kept queue still has to leave its cluster's. If the queues are being joined, and it
 * is the last to leave, it opens the single queue: it reads and writes the lock's word,
 * though another thread has had the lock since and may have unlocked it. An unlock of a
 * holder that keeps no queue is one store, and accesses nothing after that.
 *
 * Sources: the head of a queue that waits for the lock's word, as in the text of the
 * 2013 to 2015 mails on the queued spinlock; the queue is numa_osq.h's.
 */
#include "numa_osq.h"

struct lk_numa_spin {
	union {
		u64 word;
		struct {
			/*
			 * 1: held. May be set as invariant 1 says. Must be at
			 * the word's address: ThreadSanitizer pairs an unlock's
			 * store with the next owner's exchange by address.
			 */
			u32 locked;
			struct lk_numa_osq queue;
		};
	};
};

/* clang-format off */
#define LK_NUMA_SPIN_INIT { { 0 } }
/* clang-format on */

/* In the word: locked, and the queue's tail. */
#define LK_NUMA_SPIN_LOCKED 1ull
#define LK_NUMA_SPIN_TAIL   (0xffffull << 32)

void lk_numa_spin_lock_slow(struct lk_numa_spin *lock);

/* (0, 0) -> (0, 1). False: it is held, or somebody waits. */
static inline bool lk_numa_spin_trylock(struct lk_numa_spin *lock)
{
	u64 word = READ_ONCE(lock->word);

	while (!(word & (LK_NUMA_SPIN_TAIL | LK_NUMA_SPIN_LOCKED))) {
		/* [numa_spinlock.A] ACQUIRE, pairs with numa_spinlock.B and
		 * numa_queue.A: the last holder's writes. */
		if (likely(try_cmpxchg_acquire(&lock->word, &word,
					       word | LK_NUMA_SPIN_LOCKED)))
			return true;
	}
	return false;
}

static inline void lk_numa_spin_lock(struct lk_numa_spin *lock)
{
	if (unlikely(!lk_numa_spin_trylock(lock)))
		lk_numa_spin_lock_slow(lock);
}

static inline void lk_numa_spin_unlock(struct lk_numa_spin *lock)
{
	if (!lk_numa_osq_unlock_kept(&lock->queue))
		/* [numa_spinlock.B] RELEASE, pairs with numa_spinlock.A and
		 * numa_spinlock.C: publishes the critical section. */
		smp_store_release(&lock->locked, 0);
}

#endif
