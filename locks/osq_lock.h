/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_OSQ_LOCK_H
#define LK_OSQ_LOCK_H

/*
 * Optimistic spin queue: 4 bytes, a cancellable queue (cancel_queue.h) and
 * nothing else. The head of the queue is the owner.
 *
 *   (tail) 0 --lock A--> A --lock B--> B --unlock A--> B --unlock B--> 0
 *                                      B --B gives up--> A
 *
 * A waiter gives up when it should not spin: its time is up, or the thread
 * before it is known to be off its CPU (then the queue cannot move).
 *
 * It guards spinning, not data: its owner is the one waiter that watches the
 * mutex.
 *
 * Written from: the sources of cancel_queue.h; what it is for, from the text of
 * the 2014 mails on optimistic spinning (waiters leave the queue when they need
 * to reschedule).
 */
#include <platform.h>

struct lk_osq {
	/*
	 * The last node: slot << 2 | level, in the low 16 bits. Must not be 0
	 * while a thread owns the lock or waits for it; may be set to 0 only by
	 * the owner that is the last node.
	 */
	atomic_t tail;
};

/* clang-format off */
#define LK_OSQ_INIT { ATOMIC_INIT(0) }
/* clang-format on */

static inline bool lk_osq_is_locked(const struct lk_osq *osq)
{
	return atomic_read(&osq->tail) != 0;
}

/* False: gave up, or had no node to queue with; not held. */
bool lk_osq_lock(struct lk_osq *osq);
void lk_osq_unlock(struct lk_osq *osq);

#endif
