/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_DIVIDE_H
#define LK_NUMA_DIVIDE_H

/*
 * How the queue of a numa_osq is divided and joined again: the steps between
 * its three states. Those of the lock's word, as (tail, DIVIDED):
 *
 *   divide         (n, 0)      -> (CLOSED, 1)   the owner, in the single queue
 *   join           (CLOSED, 1) -> (CLOSED, 0)   the owner, which has the top
 *   pass the gate  (CLOSED, 0) -> (0, 0)        the last to empty a cluster
 *                  (n, 0)      -> (n, 0)        the same; n is behind the gate
 *
 * and of a cluster's word, as (open, tail):
 *
 *   divide         (0, 0)      -> (1, 0)        and the entry's use is a new one
 *   seal           (1, n)      -> (0, n)        in join; n may be 0
 */
#include "numa_queue.h"

/*
 * By the owner, in the single queue: by @clusters of CPUs. It may stay as it
 * is. @stays: waiters never leave.
 */
void lk_numa_divide(struct lk_numa_osq *osq, u32 clusters, bool stays);

/*
 * By the owner, which has the top: from here on arrivals queue behind the gate. @proved: it
 * was worth while to divide. The caller calls lk_numa_joined(1) once it has left.
 */
void lk_numa_join(struct lk_numa_osq *osq, struct numa_entry *entry,
		  bool proved);

/* @n of what the gate waits for are done: the last of them passes it. */
void lk_numa_joined(struct lk_numa_osq *osq, struct numa_entry *entry, u32 n);

#endif
