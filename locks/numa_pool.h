/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_POOL_H
#define LK_NUMA_POOL_H

/*
 * What a divided numa_osq has beside its 4 bytes: an entry of a pool. Entries
 * are static memory, and stay what they are: a stale pointer to one is safe to
 * read.
 */
#include "cancel_queue.h"
#include "numa_osq.h"

#define NUMA_CLUSTERS 32u /* with more clusters, neighbours share a queue */
#define NUMA_ENTRIES  64u
#define NUMA_LINE     64u

/* A thread's node, or the gate. */
struct numa_node {
	struct cq_node cq;
	/*
	 * numa_serial(): the nodes up to this one, and how many of them changed the
	 * cluster; its own cluster. 0 until the thread has seen the predecessor's;
	 * must not be 0 while it is the owner.
	 */
	u64 serial;
	/* Its own thread's only: its lock is one whose waiters never leave. */
	bool stays;
	/*
	 * Its own thread's only: the lock whose queue it keeps. May be set only
	 * by the owner of a divided queue that has no other node; must be NULL
	 * before the queue is handed over.
	 */
	const struct lk_numa_osq *kept;
	/*
	 * Its own thread's only: where it queues, and at which lock. May be set
	 * only to the entry of that lock's division; must be NULL while the
	 * node is in the single queue, or the rest.
	 */
	struct numa_entry *entry;
	struct numa_cluster *cluster; /* valid while entry is set */
	/* Must stay what it is until the thread has unlocked: is_nested(). */
	const struct lk_numa_osq *osq;
};

/* Heads of clusters look at one line, arrivals of the cluster at another. */
struct numa_cluster {
	/*
	 * use << 17 | CLUSTER_OPEN | tail, the last node's code.
	 *
	 * CLUSTER_OPEN may be set only by the owner that divides, once
	 * entry->owner and entry->use are of that division. Must be clear from
	 * lk_numa_join() until then. The tail may be changed from 0 only while
	 * CLUSTER_OPEN is set.
	 *
	 * The rest's word is the tail alone. May be changed from 0 only before
	 * the lock's word says that it is divided.
	 */
	u64 word;
	u64 pad[NUMA_LINE / sizeof(u64) - 1];
	/*
	 * The cluster's node in the top queue. May be in it only while a thread
	 * is in the cluster's queue; is used by the head of that queue alone,
	 * but for what neighbours in the top queue do.
	 */
	union {
		struct {
			struct cq_node top;
			/*
			 * It ran out of waiters before its turn was over, the
			 * last time. May be read and written only by the owner
			 * of the lock, in this cluster.
			 */
			bool few;
		};
		u8 line[NUMA_LINE];
	};
};

_Static_assert(sizeof(struct numa_cluster) == 2 * (u64)NUMA_LINE &&
		       offsetof(struct numa_cluster, top) == NUMA_LINE,
	       "a waiter at the top shares no line with its cluster's tail");

/* Otherwise sealed, as at first. */
#define CLUSTER_OPEN   (1u << 16)
#define CLUSTER_USE(n) ((u64)(n) << 17)

struct numa_entry {
	union {
		struct {
			/*
			 * All of its address. May be set only by the thread
			 * that claimed the entry; must not change until it is
			 * returned.
			 */
			struct lk_numa_osq *owner;
			/*
			 * Times that the entry was used. Must grow before a
			 * cluster's queue is open again; never repeated, so an
			 * arrival's compare-and-exchange fails if the entry has
			 * been another lock's meanwhile.
			 */
			u64 use;
			/*
			 * 0: free; else by fork epoch. May be set only from 0,
			 * or from another epoch's; must not be clear while a
			 * thread is in one of the queues, or before the gate is
			 * passed.
			 */
			u32 taken;
			u32 clusters; /* queues it has now */
			u32 of;	      /* clusters they are for */
			/*
			 * May be set only by the owner, at the top, and read
			 * by no other thread. Must be set before the lock's word is no
			 * longer DIVIDED; must be clear when the entry is
			 * returned.
			 */
			u8 joining;
			/*
			 * The lock's waiters never leave. May be set only by the
			 * owner that divides, before the lock's word says so.
			 */
			bool stays;
		};
		u8 line0[NUMA_LINE];
	};
	union {
		struct {
			/*
			 * Of the top queue: a cluster's number plus one. May be
			 * 0 only while the queues are joined.
			 */
			u16 tail;
			/*
			 * What passing the gate waits for. Must be set before a
			 * queue is sealed; at 0 the gate may be passed.
			 */
			atomic_t busy;
		};
		u8 line1[NUMA_LINE];
	};
	/*
	 * The head of the single queue while the clusters' queues are emptied.
	 * Must be clean before the lock's word is no longer DIVIDED. Has no
	 * thread: the last to empty a cluster's queue retires it.
	 */
	union {
		struct numa_node gate;
		u8 line2[NUMA_LINE];
	};
	struct numa_cluster cluster[NUMA_CLUSTERS + 1]; /* the last: the rest */
};

_Static_assert(sizeof(struct numa_entry) % NUMA_LINE == 0 &&
		       offsetof(struct numa_entry, tail) == NUMA_LINE &&
		       offsetof(struct numa_entry, gate) == 2 * NUMA_LINE,
	       "the pool's entries begin with a line, and so do their parts");

extern struct numa_entry lk_numa_pool[NUMA_ENTRIES];

/* An entry for @lock, or NULL: all are taken. @hint: where to look first. */
struct numa_entry *lk_numa_claim(struct lk_numa_osq *lock, u32 hint);
void lk_numa_put(struct numa_entry *entry);

static inline struct numa_cluster *numa_rest(struct numa_entry *entry)
{
	return &entry->cluster[NUMA_CLUSTERS];
}

/* The queue of the caller's cluster; the last one if that came since. */
static inline struct numa_cluster *numa_here(struct numa_entry *entry)
{
	u32 queues = READ_ONCE(entry->clusters);
	u32 at = this_cluster() * queues / READ_ONCE(entry->of);

	return &entry->cluster[at < queues ? at : queues - 1];
}

#endif
