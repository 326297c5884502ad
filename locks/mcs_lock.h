/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_MCS_LOCK_H
#define LK_MCS_LOCK_H

/*
 * MCS lock: 8 bytes, FIFO, each waiter watches a line of its own.
 *
 *   tail == NULL: free. Otherwise it names the last node; the first one holds.
 *   NULL --lock A--> A --lock B--> A,B --unlock A--> B --unlock B--> NULL
 *
 * Invariants: a node is granted at most once, by the one before it; a node
 * that replaced a tail is linked to by the one that it replaced, and no other.
 *
 * The holder keeps its node: it unlocks in the thread that locked, the last
 * lock first, LKP_MAX_NEST deep at most, and needs a thread slot for it.
 *
 * Source: Mellor-Crummey & Scott, TOCS 1991.
 */
#include <platform.h>

struct lk_mcs_node;

struct lk_mcs {
	struct lk_mcs_node *tail;
};

/* clang-format off */
#define LK_MCS_INIT { NULL }
/* clang-format on */

/* Without a slot: waits until there is one. */
void lk_mcs_lock(struct lk_mcs *lock);
/* False: it is taken, or the caller has no node to hold it with. */
bool lk_mcs_trylock(struct lk_mcs *lock);
void lk_mcs_unlock(struct lk_mcs *lock);

#endif
