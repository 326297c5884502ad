// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* numa_divide.h has the states; numa_osq.h what they are for. */
#include "events.h"
#include "numa_divide.h"
#include "numa_merit.h"

/* -- divide -------------------------------------------------------------- */

/*
 * An entry for @osq, as it has to be before an arrival can find it: the top
 * queue has the rest in it and nobody else, and all clusters' words are sealed.
 */
static struct numa_entry *prepare(struct lk_numa_osq *osq, u32 clusters,
				  bool stays)
{
	struct numa_entry *entry =
		lk_numa_claim(osq, READ_ONCE(osq->word) >> NUMA_ENTRY_AT);
	struct numa_cluster *rest;

	if (!entry)
		return NULL;
	WRITE_ONCE(entry->of, clusters);
	WRITE_ONCE(entry->clusters,
		   clusters < NUMA_CLUSTERS ? clusters : NUMA_CLUSTERS);
	WRITE_ONCE(entry->use, entry->use + 1);
	entry->stays = stays;
	rest = numa_rest(entry);
	cq_init(&rest->top);
	WRITE_ONCE(entry->tail, (u16)numa_top_code(entry, rest));
	return entry;
}

/*
 * The lock's word: (n, 0) -> (CLOSED, 1), and n is the rest's tail. Each node
 * stays where it is, and is in the rest from now on. False: threads kept
 * arriving.
 */
static bool move_to_rest(struct lk_numa_osq *osq, struct numa_entry *entry)
{
	u32 word = READ_ONCE(osq->word), tries = osq_divide_tries();
	u32 divided = NUMA_CLOSED | NUMA_DIVIDED |
		      (u32)(entry - lk_numa_pool) << NUMA_ENTRY_AT;

	do {
		if (!tries--)
			return false;
		WRITE_ONCE(numa_rest(entry)->word, (u64)(word & NUMA_TAIL));
		/* [numa_divide.J] RELEASE, pairs with numa_osq.K: the entry is
		 * filled in. */
	} while (!try_cmpxchg_release(&osq->word, &word,
				      (word & 0x7fu << NUMA_CAUTION_AT) |
					      divided));
	return true;
}

/*
 * Each cluster's word: (0, 0) -> (1, 0). Arrivals were turned away until now.
 */
static void open_clusters(struct numa_entry *entry)
{
	u32 i;

	for (i = 0; i < entry->clusters; i++) {
		WRITE_ONCE(entry->cluster[i].few, false);
		/* [numa_divide.T] RELEASE, pairs with numa_osq.L: owner and use
		 * are of this division. */
		smp_store_release(&entry->cluster[i].word,
				  CLUSTER_USE(entry->use) | CLUSTER_OPEN);
	}
}

void lk_numa_divide(struct lk_numa_osq *osq, u32 clusters, bool stays)
{
	struct numa_entry *entry = prepare(osq, clusters, stays);

	if (!entry) {
		count_event(LK_EV_numa_no_entry);
	} else if (!move_to_rest(osq, entry)) {
		count_event(LK_EV_numa_aborted);
		lk_numa_put(entry);
	} else {
		count_event(LK_EV_numa_opened);
		open_clusters(entry);
	}
}

/* -- the gate ------------------------------------------------------------ */

/*
 * The clusters' queues are empty, and stay so. The gate is the head of the
 * single queue, and retires: the node behind it is the owner, or the lock is
 * free.
 */
static void pass_gate(struct lk_numa_osq *osq, struct numa_entry *entry)
{
	struct cancel_queue single = { .osq = osq, .stays = entry->stays };

	numa_retire(&single, &entry->gate.cq, numa_gate_code(entry),
		    numa_grant(NUMA_OWNER, 0));
	lk_numa_put(entry);
}

void lk_numa_joined(struct lk_numa_osq *osq, struct numa_entry *entry, u32 n)
{
	/* [numa_divide.P] RELEASE, pairs with numa_divide.Q: what this one did
	 * with the entry, and with the lock. Spare relaxed: each caller has just
	 * made a full RMW, and the platform has no weaker one that returns. */
	if (atomic_sub_return_release(n, &entry->busy))
		return;
	/* [numa_divide.Q] ACQUIRE, pairs with numa_divide.P: it is 0, and stays
	 * so; the last one sees what the others did with the entry and the
	 * lock. Spare relaxed: to pass the gate is a full RMW. */
	atomic_cond_read_acquire(&entry->busy, !VAL);
	pass_gate(osq, entry);
}

/* -- join ---------------------------------------------------------------- */

/* Each cluster's word: (1, n) -> (0, n). How many have nobody in them. */
static u32 seal_clusters(struct numa_entry *entry)
{
	u32 i, empty = 0;
	u64 word;

	for (i = 0; i < entry->clusters; i++) {
		word = READ_ONCE(entry->cluster[i].word);
		/* [numa_divide.R] full RMW, pairs with numa_osq.L and
		 * numa_queue.B: a thread turned away sees the lock's word as
		 * we left it, and one that leaves sees busy. Spare acq_rel: the
		 * kernel has no RMW between release and full. Spare release:
		 * what is left to order are loads of one that left, before the
		 * next use; the model delays no load. */
		while (!try_cmpxchg(&entry->cluster[i].word, &word,
				    word & ~(u64)CLUSTER_OPEN))
			;
		empty += !(word & NUMA_TAIL);
	}
	return empty;
}

/* The gate, as the one node of a single queue. */
static void set_gate(struct numa_entry *entry)
{
	struct numa_node *gate = &entry->gate;

	cq_init(&gate->cq);
	WRITE_ONCE(gate->serial, numa_first_serial(this_cluster()));
	/* No thread waits in the gate. The first one behind it waits for this thread. */
	WRITE_ONCE(gate->cq.vcpu, this_vcpu());
}

void lk_numa_join(struct lk_numa_osq *osq, struct numa_entry *entry,
		  bool proved)
{
	u32 word = READ_ONCE(osq->word), empty;
	u32 caution = numa_next_caution(numa_caution(word), proved);

	WRITE_ONCE(entry->joining, 1);
	/* What has to be done before the gate is passed: each cluster is empty,
	 * and we have left. Not counted is the rest: it is gone, or is the
	 * caller's. */
	atomic_set(&entry->busy, (int)entry->clusters + 1);
	set_gate(entry);
	/* The lock's word: (CLOSED, 1) -> (CLOSED, 0). */
	/* [numa_divide.S] RELEASE, pairs with numa_osq.B: the gate is clean. */
	smp_store_release(&osq->word, NUMA_CLOSED | caution << NUMA_CAUTION_AT |
					      (word & 0xffu << NUMA_ENTRY_AT));
	empty = seal_clusters(entry);
	if (empty)
		lk_numa_joined(osq, entry, empty);
}
