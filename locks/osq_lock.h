/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_OSQ_LOCK_H
#define LK_OSQ_LOCK_H

/*
 * Optimistic spin queue: 4 bytes, an MCS queue whose waiters may leave.
 *
 *   tail == 0: free. Otherwise tail names the last node; the first one holds.
 *   0 --lock A--> A --lock B--> A,B --unlock A--> B --unlock B--> 0
 *                               A,B --B gives up--> A
 *
 * A waiter gives up when it should not spin: its time is up, or the thread
 * before it is known to be off its CPU (then the queue cannot move).
 *
 * Each waiter's place says where it is. Code 0 is nobody: the lock is its own.
 *
 *   BEHIND p --p leaves or unlocks--> BEHIND what p was behind, down to 0
 *   BEHIND p --gives up--> LEAVING p --> gone
 *
 * To leave and to unlock are the same step: the node behind takes over the place,
 * or, if there is none, the tail goes back to the node before.
 *
 * Invariants:
 *  1. A node that is BEHIND p or LEAVING p comes directly after p. A place is
 *     changed by its own thread, or by p from BEHIND p, with a compare-and-
 *     exchange. So either p moves it, or it leaves.
 *  2. A node goes only when the node behind it has taken over its place, or when
 *     the tail does not name it any more. So while a node is LEAVING p, p stays.
 *  3. p's link forward says where to look: at the node behind, or at the tail. It
 *     is written for the node directly after p, before that is BEHIND p: by that
 *     node when it arrives, or by the one that leaves between the two. The last
 *     one that leaves clears it. So nobody writes it while a node is BEHIND p, and
 *     p's thread can use its node again once it has gone.
 *
 * It guards spinning, not data: its holder is the one waiter that watches the
 * mutex.
 *
 * Written from: Mellor-Crummey & Scott, TOCS 1991, for the queue; the idea of
 * leaving by an agreement with both neighbours from Scott & Scherer, "Scalable
 * Queue-Based Spin Locks with Timeout", PPoPP 2001; what it is for, from the text
 * of the 2014 mails on optimistic spinning (waiters leave the queue when they need
 * to reschedule). The protocol is this file's own.
 */
#include <platform.h>

struct lk_osq {
	atomic_t tail; /* slot << 2 | level in the low 16 bits, 0: free */
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
