/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_RWLOCK_H
#define LK_RWLOCK_H

/*
 * Plain reader-count read/write lock: 4 bytes, unfair, no queue.
 *
 *   cnts   bits 0-29  number of readers
 *          bit 30     a writer holds
 *
 *   (-,0) --read_lock--> (-,1) --read_lock--> (-,2) --read_unlock--> (-,1)
 *   (-,0) --lock--> (W,0) --unlock--> (-,0)
 *   (W,0) --read_lock--> (W,1) --too late, taken back--> (W,0)
 *
 * Invariants: the thread that turned 0 into W holds alone; a reader whose count went
 * up without W in it reads, and W does not come before that count is down.
 *
 * All waiters watch the word, and all try when it looks free. A writer waits
 * for a moment without readers, which need never come.
 *
 * Source: the kernel's read/write lock before qrwlock, as Waiman Long's qrwlock
 * mails (2013-07 and v11, 2014-01-23) describe it.
 */
#include <platform.h>

#define LK_RWLOCK_READER 1u
#define LK_RWLOCK_WRITER (1u << 30)

struct lk_rwlock {
	atomic_t cnts;
};

/* clang-format off */
#define LK_RWLOCK_INIT { ATOMIC_INIT(0) }
/* clang-format on */

void lk_rwlock_read_lock_slow(struct lk_rwlock *lock);
void lk_rwlock_lock_slow(struct lk_rwlock *lock);

/* False: a writer holds; the count is up all the same. */
static inline bool lk_rwlock_count_reader(struct lk_rwlock *lock)
{
	/* [rwlock.A] ACQUIRE, pairs with rwlock.B: the last writer's writes. */
	return !(atomic_add_return_acquire(LK_RWLOCK_READER, &lock->cnts) &
		 LK_RWLOCK_WRITER);
}

static inline void lk_rwlock_read_lock(struct lk_rwlock *lock)
{
	if (unlikely(!lk_rwlock_count_reader(lock)))
		lk_rwlock_read_lock_slow(lock);
}

static inline bool lk_rwlock_read_trylock(struct lk_rwlock *lock)
{
	u32 cnts = atomic_read(&lock->cnts);

	while (!(cnts & LK_RWLOCK_WRITER)) {
		/* [rwlock.A] */
		if (atomic_try_cmpxchg_acquire(&lock->cnts, &cnts,
					       cnts + LK_RWLOCK_READER))
			return true;
	}
	return false;
}

static inline void lk_rwlock_read_unlock(struct lk_rwlock *lock)
{
	/* [rwlock.C] RELEASE, pairs with rwlock.D: a writer sees that the reads
	 * are done. */
	(void)atomic_sub_return_release(LK_RWLOCK_READER, &lock->cnts);
}

static inline bool lk_rwlock_trylock(struct lk_rwlock *lock)
{
	u32 cnts = atomic_read(&lock->cnts);

	/* [rwlock.D] ACQUIRE, pairs with rwlock.B and rwlock.C. */
	return !cnts &&
	       atomic_try_cmpxchg_acquire(&lock->cnts, &cnts, LK_RWLOCK_WRITER);
}

static inline void lk_rwlock_lock(struct lk_rwlock *lock)
{
	u32 cnts = 0;

	/* [rwlock.D] */
	if (unlikely(!atomic_try_cmpxchg_acquire(&lock->cnts, &cnts,
						 LK_RWLOCK_WRITER)))
		lk_rwlock_lock_slow(lock);
}

static inline void lk_rwlock_unlock(struct lk_rwlock *lock)
{
	/* [rwlock.B] RELEASE, pairs with rwlock.A and rwlock.D. A subtraction,
	 * for readers may have counted themselves too early. */
	(void)atomic_sub_return_release(LK_RWLOCK_WRITER, &lock->cnts);
}

#endif
