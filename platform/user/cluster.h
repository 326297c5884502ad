/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_CLUSTER_H
#define LKP_CLUSTER_H

/*
 * The table of clusters, without system calls: the model checker runs this as well.
 * cluster.c says who draws it up, and from what.
 *
 * Written from: no text.
 */
#include <atomic.h>

/*
 * True: the draft of the table is this thread's until lkp_learn_end(). @me is the fork
 * epoch, plus 1: a learner of an older epoch was in the parent and will not return.
 */
static inline bool lkp_learn_begin(u32 *learner, u32 me)
{
	u32 was = READ_ONCE(*learner);

	/* [cluster.C] ACQUIRE, pairs with cluster.D: the draft is ours. */
	return was != me && try_cmpxchg_acquire(learner, &was, me);
}

static inline void lkp_learn_end(u32 *learner)
{
	/* [cluster.D] RELEASE, pairs with cluster.C. */
	smp_store_release(learner, 0);
}

/*
 * The draft of @cpus CPUs is now what all read: @of has 1 more than each CPU's cluster, 0
 * for none yet, and @total how many clusters there are. While the table grows, no index
 * is beyond the total.
 */
static inline void lkp_cluster_publish(u16 *of, u32 *total, const u16 *draft,
				       u32 cpus, u32 clusters)
{
	if (clusters > READ_ONCE(*total))
		WRITE_ONCE(*total, clusters);
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		/* [cluster.A] RELEASE, pairs with cluster.B: a thread that sees
		 * the entry also sees a count that is no less. */
		if (READ_ONCE(of[cpu]) != draft[cpu])
			smp_store_release(&of[cpu], draft[cpu]);
	}
	WRITE_ONCE(*total, clusters);
}

/* 1 more than a CPU's cluster; 0: not met yet. */
static inline u32 lkp_cluster_entry(const u16 *of)
{
	/* [cluster.B] ACQUIRE, pairs with cluster.A: the count is no less. */
	return smp_load_acquire(of);
}

#endif
