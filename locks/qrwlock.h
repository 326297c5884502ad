/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_QRWLOCK_H
#define LK_QRWLOCK_H

/*
 * Queued read/write lock: 8 bytes, fair.
 *
 *   state  bits 0-7   a writer holds (1, a byte of its own)
 *          bits 8-30  number of readers
 *          bit 31     draining: the writer at the head of the queue waits until
 *                     it is the only user
 *   queue  a qspinlock: each waiter holds it, or queues on it
 *
 * As (held, draining, readers):
 *
 *   (-,-,0) --read_lock--> (-,-,1) --read_lock--> (-,-,2)
 *   (-,-,0) --lock-->      (H,-,0) --unlock-->    (-,-,0)
 *   (-,-,n) --lock-->      (-,d,n) --last read_unlock--> (-,d,0) --> (H,-,0)
 *   (H,-,0) --lock-->      (H,d,0) --unlock-->    (-,d,0) --> (H,-,0)
 *   (H,-,0) --read_lock--> (H,-,1) --unlock-->    (-,-,1)
 *   (-,d,n) --read_lock--> queued behind the writer
 *   (-,d,n) --read_lock_nested--> (-,d,n+1)
 *   (-,d,0) --a writer that left the queue--> (H,d,0)
 *
 * Invariants:
 *  1. Only the head of the queue sets draining, and it turns it into held before
 *     the next waiter can be the head. So at most one writer drains.
 *  2. While draining is set, no other writer can take the lock, as it wants a state
 *     of 0, but one that has left the queue; and no reader but a nested one, as it
 *     wants no writer's bit. A nested reader that is counted before draining turns
 *     into held has the lock.
 *  3. A reader that waits is counted only as the head, and then no writer drains.
 *     Its count keeps arriving writers out. So does that of a nested reader, which
 *     waits without a place in the queue. The other waiters are not counted, but
 *     for the moment that a reader needs to take its count back.
 * A reader does not pass a writer that drains: a thread that may already read must
 * not read_lock again, but read_lock_nested.
 *
 * Written from: the prose of Waiman Long's qrwlock mails (2013-07 and v11,
 * 2014-01-23), which say what state there is, which threads queue, and what each
 * waits for. The layout and the steps are this file's own, but for two: that a nested
 * reader passes writers that wait is what the kernel's rwlock_t promises to readers in
 * interrupts, and the loop by which a writer drains has the shape of the kernel's, which
 * was read. The writer's byte is at the word's own address: ThreadSanitizer orders a
 * store and a load only then.
 */
#include "qspinlock.h"

#define LK_QRW_HELD	1u
#define LK_QRW_READER	(1u << 8)
#define LK_QRW_DRAINING (1u << 31)
/* Readers that arrive have to queue. */
#define LK_QRW_CLOSED (LK_QRW_DRAINING | LK_QRW_HELD)

struct lk_qrw {
	union {
		atomic_t state;
		u8 held;
	};
	struct lk_qspin queue;
};

void lk_qrw_read_lock_slow(struct lk_qrw *lock);
void lk_qrw_read_lock_nested_slow(struct lk_qrw *lock);
void lk_qrw_lock_slow(struct lk_qrw *lock);

static inline void lk_qrw_init(struct lk_qrw *lock)
{
	atomic_set(&lock->state, 0);
	lk_qspin_init(&lock->queue);
}

static inline void lk_qrw_read_lock(struct lk_qrw *lock)
{
	/* [qrwlock.A] ACQUIRE, pairs with qrwlock.B: the last writer's writes. */
	if (unlikely(atomic_fetch_add_acquire(LK_QRW_READER, &lock->state) &
		     LK_QRW_CLOSED))
		lk_qrw_read_lock_slow(lock);
}

/*
 * For a thread that may be reading already, and for an interrupt handler that may
 * interrupt a reader: waits for the writer that holds, and for no other. Readers
 * that keep coming this way keep writers waiting.
 */
static inline void lk_qrw_read_lock_nested(struct lk_qrw *lock)
{
	/* [qrwlock.A] */
	if (unlikely(atomic_fetch_add_acquire(LK_QRW_READER, &lock->state) &
		     LK_QRW_HELD))
		lk_qrw_read_lock_nested_slow(lock);
}

static inline bool lk_qrw_read_trylock(struct lk_qrw *lock)
{
	u32 state = atomic_read(&lock->state);

	while (!(state & LK_QRW_CLOSED)) {
		/* [qrwlock.A] */
		if (atomic_try_cmpxchg_acquire(&lock->state, &state,
					       state + LK_QRW_READER))
			return true;
	}
	return false;
}

static inline void lk_qrw_read_unlock(struct lk_qrw *lock)
{
	/* [qrwlock.C] RELEASE, pairs with qrwlock.D and .F: a writer sees that
	 * the reads are done. */
	(void)atomic_sub_return_release(LK_QRW_READER, &lock->state);
}

/* (-,-,0) -> (H,-,0) */
static inline bool lk_qrw_take_free(struct lk_qrw *lock)
{
	u32 free = 0;

	/* [qrwlock.D] ACQUIRE, pairs with qrwlock.B and qrwlock.C. */
	return atomic_try_cmpxchg_acquire(&lock->state, &free, LK_QRW_HELD);
}

static inline bool lk_qrw_trylock(struct lk_qrw *lock)
{
	return !atomic_read(&lock->state) && lk_qrw_take_free(lock);
}

static inline void lk_qrw_lock(struct lk_qrw *lock)
{
	if (unlikely(!lk_qrw_take_free(lock)))
		lk_qrw_lock_slow(lock);
}

static inline void lk_qrw_unlock(struct lk_qrw *lock)
{
	/* [qrwlock.B] RELEASE, pairs with qrwlock.A, .D, .E and .F. A byte of
	 * its own: the rest of the word is not the holder's. */
	smp_store_release(&lock->held, 0);
}

#endif
