/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_POOL_H
#define LK_NUMA_POOL_H

/*
 * What a divided numa_osq has beside its 4 bytes: an entry of a pool. Entries are
 * static memory, and stay what they are: a stale pointer to one is safe to read.
 */
#include "numa_osq.h"

#define NUMA_CLUSTERS 32u /* with more clusters, neighbours share a queue */
#define NUMA_ENTRIES  64u
#define NUMA_LINE     64u

/* A thread's place in a queue, or a cluster's in the top queue. */
struct numa_node {
	struct numa_node *next;
	u32 grant;  /* 0: waits; see GRANT_* */
	u32 serial; /* one more than the node before it has; 0: not known yet */
	u32 vcpu;   /* where its thread ran when it queued */
	u16 prev;   /* the code of the node before it */
	/* Its own thread's only: where it queues, and at which lock. No entry: in
	 * the one queue. */
	struct numa_entry *entry;
	struct numa_cluster *cluster;
	const struct lk_numa_osq *osq;
};

/* Waiters at the top look at one line, arrivals of the cluster at another. */
struct numa_cluster {
	u64 word; /* use << 17 | CLUSTER_OPEN | code of the last node */
	u64 pad[NUMA_LINE / sizeof(u64) - 1];
	union {
		struct numa_node top;
		u8 line[NUMA_LINE];
	};
};

_Static_assert(sizeof(struct numa_cluster) == 2 * (u64)NUMA_LINE &&
		       offsetof(struct numa_cluster, top) == NUMA_LINE,
	       "who waits at the top shares no line with its cluster's tail");

/* Otherwise sealed, as at first. */
#define CLUSTER_OPEN   (1u << 16)
#define CLUSTER_USE(n) ((u64)(n) << 17)

struct numa_entry {
	union {
		struct {
			struct lk_numa_osq *owner; /* all of its address */
			u64 use;		   /* times it was used */
			u32 taken;    /* 0: free; else by fork epoch */
			u32 clusters; /* queues it has now */
			u32 of;	      /* clusters they are for */
			u8 joining;   /* read and set by the holder */
		};
		u8 line0[NUMA_LINE];
	};
	union {
		struct {
			u16 tail;      /* of the top queue */
			atomic_t busy; /* what passing the gate waits for */
		};
		u8 line1[NUMA_LINE];
	};
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

extern struct numa_entry numa_pool[NUMA_ENTRIES];

/* An entry for @lock, or NULL: all are taken. @hint: where to look first. */
struct numa_entry *numa_claim(struct lk_numa_osq *lock, u32 hint);
void numa_put(struct numa_entry *entry);

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
