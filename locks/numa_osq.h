/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_OSQ_H
#define LK_NUMA_OSQ_H

/*
 * Optimistic spin queue that divides itself by clusters of CPUs while it is
 * long: 4 bytes. It does what osq_lock.h does, for a mutex's spinners.
 *
 *   tail    0: free. CLOSED (0xffff): not a node, see below. Otherwise the last
 *           node's code
 *   state   bit 0: divided; above: how careful to be before the next time
 *   entry   which entry of the pool it has, or had last
 *
 *   one queue:  A - B - C                     tail = C
 *
 *   divided:    top queue of clusters:        tail = CLOSED, divided
 *                 rest(B - C) - cluster 1(D - E) - cluster 0(F)
 *
 *   joining:    rest of the clusters          tail = CLOSED or G
 *               gate - G
 *
 * To divide: the holder moves the tail into an entry of the pool. Those that
 * queue already stay queued, as the "rest": one more cluster, that holds the top.
 * Whoever comes finds the tail closed and queues in its own cluster. To join:
 * the holder opens the tail, with the entry as its first node, the gate; whoever
 * comes queues behind that. It seals the clusters' queues, and who empties the
 * last of them passes the gate. So nobody ever waits for a queue to drain before
 * it may queue, each wait is one in a queue, and can be given up.
 *
 * Invariants:
 *  1. A cluster is in the top queue only while a thread is in its queue; only
 *     that queue's first thread touches the cluster's top node.
 *  2. While the lock is divided and not joining, somebody holds the top, or is
 *     about to look whether to take it: so the last one to leave joins it.
 *  3. Nobody enters a sealed queue, or one of an entry that another lock has:
 *     a cluster's word has the number of the entry's use, never repeated.
 *  4. An entry is used by one lock from claim() to put().
 *
 * Sources: queues of queues from Chabbi, Fagan and Mellor-Crummey, "High
 * Performance Locks for Multi-level NUMA Systems", PPoPP 2015; switching at run
 * time, and the serial numbers, from the text of the 2024 mails on a dynamic
 * NUMA-aware osq_lock, and from design notes that were made by reading those
 * patches. The protocol is not theirs. How a waiter leaves its queue (unqueue(),
 * wait_next()) has the three steps of the kernel's osq_lock, and follows them
 * closely.
 */
#include <platform.h>

struct lk_numa_osq {
	union {
		u32 word;
		struct {
			u16 tail;
			u8 state;
			u8 entry;
		};
	};
};

/* clang-format off */
#define LK_NUMA_OSQ_INIT { { 0 } }
/* clang-format on */

static inline bool lk_numa_osq_is_locked(const struct lk_numa_osq *osq)
{
	return READ_ONCE(osq->tail) != 0;
}

/* False: gave up, or had no node to queue with; not held. */
bool lk_numa_osq_lock(struct lk_numa_osq *osq);
void lk_numa_osq_unlock(struct lk_numa_osq *osq);
/* Locks that are divided, or about to join again. */
u32 lk_numa_osq_divided(void);

#endif
