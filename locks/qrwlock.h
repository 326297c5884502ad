/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_QRWLOCK_H
#define LK_QRWLOCK_H

/*
 * Queued read/write lock: 8 bytes, fair.
 *
 *   cnts   bits 0-7  a writer holds (0xff)
 *          bit 8     a writer waits at the head of the queue
 *          bits 9-   number of readers
 *   queue  a qspinlock: whoever waits holds it while at the head
 *
 *   (0,-,0)  --read_lock-->  (0,-,1) --read_lock--> (0,-,2)
 *   (0,-,0)  --lock-->       (W,-,0) --unlock-->    (0,-,0)
 *   (0,-,n)  --lock-->       (0,w,n) --last read_unlock--> (0,w,0) --> (W,-,0)
 *   (0,w,n)  --read_lock-->  queued behind the writer
 *
 * Invariants: bits 0-7 set excludes every reader but those that are counted
 * while they wait at the head for the writer to go; arrivals pass through the
 * queue in FIFO order as soon as a writer holds or waits; a reader at the head
 * lets the readers behind it in one after another, so they run as a batch.
 * A reader never takes the lock past a waiting writer: a thread that already
 * reads must not read_lock again.
 *
 * Source: Waiman Long's qrwlock mails, 2013-07 and v11, 2014-01-23.
 */
#include "qspinlock.h"

#define LK_QRW_WRITER	    0xffu
#define LK_QRW_WAITING	    0x100u
#define LK_QRW_WRITER_MASK  0x1ffu
#define LK_QRW_READER_SHIFT 9
#define LK_QRW_READER	    (1u << LK_QRW_READER_SHIFT)

struct lk_qrw {
	union {
		atomic_t cnts;
		u8 wlocked;
	};
	struct lk_qspin queue;
};

/* clang-format off */
#define LK_QRW_INIT { { ATOMIC_INIT(0) }, LK_QSPIN_INIT }
/* clang-format on */

void lk_qrw_read_lock_slow(struct lk_qrw *lock);
void lk_qrw_lock_slow(struct lk_qrw *lock);

static inline void lk_qrw_init(struct lk_qrw *lock)
{
	atomic_set(&lock->cnts, 0);
	lk_qspin_init(&lock->queue);
}

static inline void lk_qrw_read_lock(struct lk_qrw *lock)
{
	/* [qrwlock.A] ACQUIRE, pairs with qrwlock.B: the last writer's writes. */
	if (unlikely(atomic_add_return_acquire(LK_QRW_READER, &lock->cnts) &
		     LK_QRW_WRITER_MASK))
		lk_qrw_read_lock_slow(lock);
}

static inline bool lk_qrw_read_trylock(struct lk_qrw *lock)
{
	u32 cnts = atomic_read(&lock->cnts);

	while (!(cnts & LK_QRW_WRITER_MASK)) {
		/* [qrwlock.A] */
		if (atomic_try_cmpxchg_acquire(&lock->cnts, &cnts,
					       cnts + LK_QRW_READER))
			return true;
	}
	return false;
}

static inline void lk_qrw_read_unlock(struct lk_qrw *lock)
{
	/* [qrwlock.C] RELEASE, pairs with qrwlock.D: a writer sees that the
	 * reads are done. */
	(void)atomic_sub_return_release(LK_QRW_READER, &lock->cnts);
}

static inline bool lk_qrw_trylock(struct lk_qrw *lock)
{
	u32 cnts = atomic_read(&lock->cnts);

	/* [qrwlock.D] ACQUIRE, pairs with qrwlock.B and qrwlock.C. */
	return !cnts &&
	       atomic_try_cmpxchg_acquire(&lock->cnts, &cnts, LK_QRW_WRITER);
}

static inline void lk_qrw_lock(struct lk_qrw *lock)
{
	u32 cnts = 0;

	/* [qrwlock.D] */
	if (unlikely(!atomic_try_cmpxchg_acquire(&lock->cnts, &cnts,
						 LK_QRW_WRITER)))
		lk_qrw_lock_slow(lock);
}

static inline void lk_qrw_unlock(struct lk_qrw *lock)
{
	/* [qrwlock.B] RELEASE, pairs with qrwlock.A, .D and .E. */
	smp_store_release(&lock->wlocked, 0);
}

#endif
