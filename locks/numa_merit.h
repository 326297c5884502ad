/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_MERIT_H
#define LK_NUMA_MERIT_H

/*
 * When a numa_osq divides its queue, and when it joins the queues again.
 * Numbers only: nothing here is shared, and each function is what its arguments
 * say. All is counted in hand-overs, by the owner, and goes along with the
 * lock.
 *
 *   depth    waiters behind the owner
 *   run      hand-overs in the single queue since it was seen short, or empty
 *   caution  it takes 2 to the power of this times as many of them to divide
 *   passes   hand-overs inside a cluster since that got the lock
 *   merit    what division has brought: local hand-overs less the remote ones
 *   proved   merit has been high enough: it was right to divide
 *   few      the cluster ran out of waiters before its turn was over, last time
 *
 *   single queue:  run +1 at each hand-over. Every 16th time, and when it is
 *                  enough, the owner has a look. Short: run = 0. Long, and
 *                  enough: divide.
 *   divided:       merit begins at 2 x keep_times, +1 inside a cluster, -1 to
 *                  another. At 0: join.
 *   joined:        proved: caution = 0. Not: caution +1.
 */
#include <platform.h>

#define NUMA_RUN_MAX	 ((1u << 20) - 1)
#define NUMA_LOOK_EVERY	 16u
#define NUMA_CAUTION_MAX 6u
#define NUMA_PASSES_MAX	 4095u
#define NUMA_MERIT_MAX	 4095u

/* -- the single queue ---------------------------------------------------- */

static inline u32 numa_next_run(u32 run)
{
	return run < NUMA_RUN_MAX ? run + 1 : run;
}

/* Hand-overs with a long queue before it is divided. */
static inline u32 numa_needed(u32 keep_times, u32 caution)
{
	return keep_times << caution;
}

/* Whether to look at the queue: that costs a line of another CPU. */
static inline bool numa_is_due(u32 run, u32 needed)
{
	return run >= needed || (run && run % NUMA_LOOK_EVERY == 0);
}

/*
 * A node's serial counts the queue up to that node, in three numbers:
 *
 *   number   its predecessor's plus one, modulo 2^32; the first one's is 1
 *   changes  nodes so far that were of another cluster than their predecessor,
 *            modulo 2^16
 *   cluster  the node's own, modulo 2^16
 *
 * The last node's number, less the owner's, is the depth; so with the changes:
 * hand-overs to another cluster that are to come. Both are estimates: a node that
 * has left from between is counted until those behind it are gone.
 */
#define NUMA_CHANGES_AT 32
#define NUMA_CLUSTER_AT 48

static inline u64 numa_serial(u32 number, u64 changes, u32 cluster)
{
	return number | (changes & 0xffff) << NUMA_CHANGES_AT |
	       (u64)(u16)cluster << NUMA_CLUSTER_AT;
}

static inline u64 numa_first_serial(u32 cluster)
{
	return numa_serial(1, 0, cluster);
}

static inline u64 numa_next_serial(u64 prev, u32 cluster)
{
	bool change = (u16)cluster != prev >> NUMA_CLUSTER_AT;

	return numa_serial((u32)prev + 1, (prev >> NUMA_CHANGES_AT) + change,
			   cluster);
}

/*
 * More waiters than @lock_depth, and to divide them saves every second hand-over
 * to another cluster, or more: divided, it is one in @node_max. Tests set a
 * @lock_depth below 0: any queue is long then.
 */
static inline bool numa_is_long(u64 last, u64 owner, u32 lock_depth,
				u32 node_max)
{
	u32 depth = (u32)last - (u32)owner;
	u16 changes =
		(u16)((last >> NUMA_CHANGES_AT) - (owner >> NUMA_CHANGES_AT));

	return (int)lock_depth < 0 ||
	       ((int)depth > (int)lock_depth &&
		(u64)changes * node_max >= 2 * (u64)depth);
}

/* A queue that is no longer divided; @proved: it was right to. */
static inline u32 numa_next_caution(u32 caution, bool proved)
{
	if (proved)
		return 0;
	return caution < NUMA_CAUTION_MAX ? caution + 1 : caution;
}

/* -- divided ------------------------------------------------------------- */

/* What the owner passes on, beside the lock. */
struct numa_share {
	u32 passes;  /* may be at most NUMA_PASSES_MAX */
	u32 merit;   /* may be at most NUMA_MERIT_MAX; 0: the owner joins */
	bool proved; /* set for good once merit was high */
	bool few; /* set by the first of a cluster's turn; valid for that turn */
};

static inline u32 numa_less(u32 merit, u32 by)
{
	return merit > by ? merit - by : 0;
}

/* Of a node that gets the lock just after a division, or finds no owner. */
static inline struct numa_share numa_first_share(u32 keep_times)
{
	u32 merit = 2 * keep_times;

	return (struct numa_share){
		.merit = merit < NUMA_MERIT_MAX ? merit : NUMA_MERIT_MAX,
	};
}

/* After a hand-over inside the cluster. */
static inline struct numa_share numa_local_share(struct numa_share share,
						 u32 keep_times)
{
	share.passes++;
	if (share.merit < NUMA_MERIT_MAX)
		share.merit++;
	if (share.merit >= 8 * keep_times || share.merit == NUMA_MERIT_MAX)
		share.proved = true;
	return share;
}

/* After a hand-over to another cluster. */
static inline struct numa_share numa_remote_share(struct numa_share share)
{
	share.few = false;
	share.passes = 0;
	share.merit = numa_less(share.merit, 1);
	return share;
}

/*
 * The cluster has had its turn, and no other one waits: its hand-overs were no
 * merit, but the reverse.
 */
static inline struct numa_share numa_alone_share(struct numa_share share)
{
	share.merit = numa_less(share.merit, 2 * share.passes);
	share.passes = 0;
	return share;
}

/* In 26 bits. */
#define NUMA_MERIT_AT  12
#define NUMA_PROVED_AT 24
#define NUMA_FEW_AT    25

static inline u32 numa_pack(struct numa_share share)
{
	return share.passes | share.merit << NUMA_MERIT_AT |
	       (u32)share.proved << NUMA_PROVED_AT |
	       (u32)share.few << NUMA_FEW_AT;
}

static inline struct numa_share numa_unpack(u32 packed)
{
	return (struct numa_share){
		.passes = packed & NUMA_PASSES_MAX,
		.merit = packed >> NUMA_MERIT_AT & NUMA_MERIT_MAX,
		.proved = packed >> NUMA_PROVED_AT & 1,
		.few = packed >> NUMA_FEW_AT & 1,
	};
}

#endif
