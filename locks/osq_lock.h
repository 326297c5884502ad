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
 * Invariants: prev->next and node->prev name each other outside of a step;
 * leaving freezes prev->next (A), then our own next (B), then joins the two
 * (C), so that two neighbours never leave at once; a node is granted at most
 * once, by whoever is before it.
 *
 * It guards spinning, not data: its holder is the one waiter that watches the
 * mutex. Source: the MCS lock (TOCS 1991) with the cancellation described by
 * Peter Zijlstra and Waiman Long in the 2014 optimistic-spinning mails.
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
