/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_OSQ_2024_H
#define LK_NUMA_OSQ_2024_H

/*
 * A dynamic NUMA-aware OSQ after the mails of 2024: a baseline, for simulations
 * only, because it has the faults below. locks/numa_osq.h does the same without
 * them.
 *
 *   tail   slot of the last waiter's CPU; 0: free; FROZEN: nobody queues here
 *   entry  which entry of the pool it has, from STOPPING on
 *   state  INITED --queue is deep--> DETECT --deep for long--> STOPPING
 *                 --the queue has drained--> NUMA
 *
 * INITED, DETECT: an OSQ. Each waiter numbers itself by its predecessor, and each
 * hand-over reads the number of the last one: the difference is the depth.
 * STOPPING: those that queue get their turn, and arrivals spin until the
 * last of them opens the entry.
 * NUMA: a queue for each cluster of CPUs. A cluster's first waiter waits in a queue
 * of clusters, and the cluster passes the lock on inside itself up to NODE_MAX
 * times before another one has its turn.
 *
 * Kept, and wrong:
 *  - Lost start: in STOPPING, if the last waiter gives up while the holder unlocks,
 *    the queue is empty and nobody opens the entry: whoever comes later spins for
 *    ever.
 *  - Who waits in STOPPING, or for its cluster's turn, cannot give up, though its
 *    CPU may be wanted.
 *  - Each hand-over reads a far line to know the depth, also where it never divides.
 *  - A waiter may number itself by a predecessor that has no number of its own yet.
 *  - The word that a cluster's first waiter spins on shares a line with the
 *    cluster's tail.
 *  - Switched off by dynamic_enable, it stays in DETECT, or NUMA.
 *
 * Left out: the way back to INITED, a worker that looks every 60 s for queues that
 * are idle, which in simulations of milliseconds is never; how entries of the pool
 * are found by the lock's address; the control file. Where the description is
 * silent: the count of deep hand-overs travels with the lock, in the word that
 * grants it.
 *
 * What it was written from:
 *  - the text of the mails "[PATCH v2 0/3] locking/osq_lock", 2024-09-30 (a patch
 *    series for Linux 6.6);
 *  - the project's design notes: their description of the word, the states, the
 *    serial numbers and the limits, and their list of faults. Both were made by
 *    reading the mailed patches. So this file is not free of knowledge of their
 *    code;
 *  - the kernel's own osq_lock, which that lock changes: how a waiter leaves its
 *    queue (unqueue(), wait_next()) has its three steps, and follows them closely.
 */
#include <platform.h>

struct lk_numa_2024 {
	union {
		u32 word;
		struct {
			u16 tail;
			u8 entry;
			u8 state;
		};
	};
};

bool lk_numa_2024_is_locked(const struct lk_numa_2024 *osq);
/* False: gave up; not held. */
bool lk_numa_2024_lock(struct lk_numa_2024 *osq);
void lk_numa_2024_unlock(struct lk_numa_2024 *osq);

#endif
