/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_OSQ_H
#define LK_NUMA_OSQ_H

/*
 * Optimistic spin queue that divides itself by clusters of CPUs while it is
 * long: 4 bytes. It does for a mutex's spinners what osq_lock.h does.
 *
 *   single queue:  A - B - C                  A is the owner
 *
 *   divided:       top queue of clusters:
 *                    rest(B - C) - cluster 1(D - E) - cluster 0(F)
 *                                             B is the owner
 *
 *   joining:       top queue of clusters:
 *                    cluster 1(D - E)         D is the owner
 *                  single queue:
 *                    gate - G - H
 *
 * To divide: the owner moves the tail into an entry of the pool. Those that
 * queue already stay queued, as the "rest": one more cluster, that has the top.
 * An arrival finds the tail closed and queues in its own cluster. To join: the
 * owner opens the tail, with the entry as its first node, the gate; arrivals
 * queue behind that. It seals the clusters' queues, and the thread that empties
 * the last of them passes the gate. So nobody ever waits for a queue to drain
 * before it may queue. Waiters can give up, but those of lk_numa_osq_lock_to_stay().
 *
 * The lock's word, as (tail, divided), n any node:
 *
 *   (0, 0)      -> (n, 0)       an arrival finds it free      lock_with()
 *   (n, 0)      -> (m, 0)       an arrival queues             lock_with()
 *   (n, 0)      -> (m, 0)       the last one leaves           cq_retire()
 *   (n, 0)      -> (0, 0)       the owner, alone, unlocks     unlock_single()
 *   (n, 0)      -> (CLOSED, 1)  the owner divides             lk_numa_divide()
 *   (CLOSED, 1) -> (CLOSED, 0)  the owner, at the top, joins  lk_numa_join()
 *   (CLOSED, 0) -> (n, 0)       an arrival, behind the gate   lock_with()
 *   (n, 0)      -> (CLOSED, 0)  it leaves                     cq_retire()
 *   (CLOSED, 0) -> (0, 0)       the gate is passed            lk_numa_joined()
 *
 * Invariants:
 *  1. A cluster is in the top queue only while a thread is in its queue; only
 *     that queue's head touches the cluster's top node.
 *  2. While the lock is divided and not joining, some cluster has the top. So
 *     the last one to leave joins it.
 *  3. Nobody enters a sealed queue, or one of an entry that another lock has:
 *     a cluster's word has the number of the entry's use, never repeated.
 *  4. An entry is used by one lock from lk_numa_claim() to lk_numa_put().
 *
 * Files: cancel_queue.h and cancel_retire.h, how nodes queue, leave and hand
 * over; numa_pool.h, what a divided lock has beside its word; numa_queue.h,
 * where the tails are; numa_divide.h, to divide and to join; numa_merit.h,
 * when.
 *
 * Sources: queues of queues from Chabbi, Fagan and Mellor-Crummey, "High
 * Performance Locks for Multi-level NUMA Systems", PPoPP 2015; switching at run
 * time, and the serial numbers, from the text of the 2024 mails on a dynamic
 * NUMA-aware osq_lock, and from design notes that were made by reading those
 * patches. The protocol is not theirs.
 */
#include <platform.h>

struct lk_numa_osq {
	union {
		u32 word; /* numa_queue.h has its bits */
		struct {
			/*
			 * 0: free. CLOSED (0xffff): the queue is divided, or
			 * the gate is the last node. Else the last node's code.
			 * Must not be 0 while there is an owner, or an entry is
			 * in use.
			 */
			u16 tail;
			/*
			 * Bit 0, divided: may be set only while the tail is
			 * CLOSED and the entry is ours. Must be set while a
			 * cluster's queue is open, but for the time in which
			 * the owner seals them. Above, caution: may change only
			 * when bit 0 is cleared.
			 */
			u8 state;
			/*
			 * Which one of the pool. Must be ours while the tail is
			 * CLOSED, and until the gate is passed; else where to
			 * look for one first.
			 */
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
/*
 * The same for a lock whose waiters never leave, so that hand-overs are stores.
 * False: had no node. All users of one lock use the same one of the two.
 */
bool lk_numa_osq_lock_to_stay(struct lk_numa_osq *osq);
/*
 * After lk_numa_osq_lock_to_stay(). True: the thread should keep the queue; it may
 * meanwhile lock others in that way, and unlock in any order. False: it must
 * hand the queue over before it locks another one.
 */
bool lk_numa_osq_keep(struct lk_numa_osq *osq);
/*
 * May access @osq when others already have the queue, or have had it: the last to leave
 * the clusters' queues passes the gate.
 */
void lk_numa_osq_unlock(struct lk_numa_osq *osq);
/* Of a thread that has a node. False: it does not keep @osq's queue. */
bool lk_numa_osq_unlock_if_kept(struct lk_numa_osq *osq);
DECLARE_WAIT_DEPTH(numa_nodes);
/* The same of any thread. */
static inline bool lk_numa_osq_unlock_kept(struct lk_numa_osq *osq)
{
	return unlikely(wait_depth(numa_nodes)) &&
	       lk_numa_osq_unlock_if_kept(osq);
}
/* Locks that are divided, or about to join again. */
u32 lk_numa_osq_divided(void);

#endif
