/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_NUMA_QUEUE_H
#define LK_NUMA_QUEUE_H

/*
 * The queues of a numa_osq, each a cancellable queue, by where its tail is:
 *
 *   queue         its nodes are       its tail is in      its head is
 *   single queue  threads', the gate  the lock's word     the owner
 *   rest          threads'            the rest's word     the owner
 *   a cluster's   threads'            the cluster's word  at the top, or owner
 *   top queue     clusters', rest's   the entry           the owner's cluster
 *
 * The rest is what was the single queue before it was divided. Its nodes find
 * out by the lock's word where their tail is.
 */
#include "cancel_retire.h"
#include "numa_pool.h"

/* -- codes --------------------------------------------------------------- */

/* A tail is 16 bits: 0, a node's code, or, in the lock's word, this. */
#define NUMA_TAIL   0xffffu
#define NUMA_CLOSED 0xffffu /* the gate is last, or the queue is divided */

/*
 * The gate's code as a predecessor: another one for each entry, so that a node that
 * leaves one gate and comes to another is not found behind the first.
 */
static inline u32 numa_gate_code(const struct numa_entry *entry)
{
	return (u32)(entry - lk_numa_pool) << 16 | NUMA_CLOSED;
}

/* The code, in the top queue, of one of @entry's clusters, or of its rest. */
static inline u32 numa_top_code(const struct numa_entry *entry,
				const struct numa_cluster *cluster)
{
	return (u32)(cluster - entry->cluster) + 1;
}

/* -- the lock's word ----------------------------------------------------- */

/* tail, 16 bits; divided; caution, 7 bits; entry, 8 bits. */
#define NUMA_DIVIDED	(1u << 16)
#define NUMA_CAUTION_AT 17
#define NUMA_ENTRY_AT	24

static inline bool numa_is_divided(u32 word)
{
	return (word & (NUMA_DIVIDED | NUMA_TAIL)) ==
	       (NUMA_DIVIDED | NUMA_CLOSED);
}

static inline u32 numa_caution(u32 word)
{
	return word >> NUMA_CAUTION_AT & 0x7f;
}

static inline struct numa_entry *numa_entry_of(u32 word)
{
	return &lk_numa_pool[(word >> NUMA_ENTRY_AT) % NUMA_ENTRIES];
}

/* -- grants -------------------------------------------------------------- */

/*
 * What a head passes on, as the place of the node behind. In the low bits what
 * that one is from now on; above, counts of numa_merit.h.
 *
 *   OWNER   owner of the lock. In the single queue with the run, in a cluster's
 *           and in the top queue with the share
 *   HEAD    head of the cluster's queue; the cluster is not in the top queue
 *   AT_TOP  the same, and the cluster is in the top queue already
 */
enum { NUMA_OWNER, NUMA_HEAD, NUMA_AT_TOP };
#define NUMA_GRANT_KIND	  3u
#define NUMA_GRANT_COUNTS 2 /* at this bit */

static inline u32 numa_grant(u32 kind, u32 counts)
{
	return CQ_GRANTED | counts << NUMA_GRANT_COUNTS | kind;
}

static inline u32 numa_counts(u32 place)
{
	return (place & CQ_BELOW) >> NUMA_GRANT_COUNTS;
}

/* -- queues -------------------------------------------------------------- */

struct cancel_queue {
	struct lk_numa_osq *osq;
	/* NULL: the single queue, or the rest. */
	struct numa_entry *entry;
	/* With an entry. NULL: the top queue. */
	struct numa_cluster *cluster;
	/*
	 * May be set only for a thread in the rest, which has seen that the
	 * queue was divided. Stays so: until the rest is empty, nobody joins
	 * the queues.
	 */
	struct numa_entry *rest;
	/* The cluster's word, or the rest's, as cq_is_last() saw it. */
	u64 seen;
	/*
	 * Nodes stay until they are granted. Must be the same for all threads in
	 * the queue. Never in the top queue: clusters leave it.
	 */
	bool stays;
};

static inline bool numa_is_last_of_cluster(struct cancel_queue *queue,
					   const struct numa_cluster *cluster,
					   u32 code)
{
	queue->seen = READ_ONCE(cluster->word);
	return (queue->seen & NUMA_TAIL) == code;
}

/* Orders nothing: where it sees an old word, cq_move_tail() fails. */
static inline bool cq_is_last(struct cancel_queue *queue, u32 code)
{
	u32 word;

	if (queue->cluster)
		return numa_is_last_of_cluster(queue, queue->cluster, code);
	if (queue->entry)
		return READ_ONCE(queue->entry->tail) == code;
	word = READ_ONCE(queue->osq->word);
	if (numa_is_divided(word)) {
		queue->rest = numa_entry_of(word);
		return numa_is_last_of_cluster(queue, numa_rest(queue->rest),
					       code);
	}
	return (word & NUMA_TAIL) == (code & NUMA_TAIL);
}

/* (open, tail) of a cluster: (o, @seen's) -> (o, @before). */
static inline bool numa_move_cluster_tail(struct numa_cluster *cluster,
					  u64 seen, u32 before)
{
	/* [numa_queue.B] full RMW, pairs with numa_osq.U, numa_divide.R and
	 * itself: an arrival sees the link that we cut; what the last owner
	 * wrote comes by the top. Writes to a link keep their order, as by A.
	 * And the thread that empties a sealed queue sees what busy was set to,
	 * and subtracts from that. Spare acq_rel: the kernel has no RMW between
	 * release and full. Spare acquire: in the model a store comes after
	 * an RMW of its word that ran before it; a CPU may have it otherwise.
	 */
	return try_cmpxchg(&cluster->word, &seen,
			   (seen & ~(u64)NUMA_TAIL) | before);
}

/* (tail) of the single queue, or of the top queue: @code -> @before. */
static inline bool numa_move_tail(u16 *tail, u32 code, u32 before)
{
	u16 last = (u16)code;

	/* [numa_queue.A] full RMW, pairs with numa_osq.B, numa_spinlock.A and
	 * itself: a new arrival sees the last owner's writes, and the link that we cut. And
	 * writes to a link keep their order: those of the node that leaves come
	 * before an arrival's, and before the next use of @code's own link.
	 * Spare acq_rel: the kernel has no RMW between release and full. Spare
	 * release: in the model writes to a word have the order in which they
	 * ran. */
	return try_cmpxchg(tail, &last, (u16)before);
}

/* After cq_is_last(). Fails if the single queue has been divided since. */
static inline bool cq_move_tail(struct cancel_queue *queue, u32 code,
				u32 before)
{
	struct numa_cluster *cluster = queue->cluster;

	if (queue->rest)
		cluster = numa_rest(queue->rest);
	if (cluster)
		return numa_move_cluster_tail(cluster, queue->seen, before);
	return numa_move_tail(queue->entry ? &queue->entry->tail
					   : &queue->osq->tail,
			      code, before);
}

/* cq_append() to any queue but the top. */
static inline void numa_append(const struct cancel_queue *queue,
			       struct cq_node *node, struct cq_node *prev,
			       u32 before)
{
	if (queue->stays)
		cq_append_to_stay(node, prev, before);
	else
		cq_append(node, prev, before);
}

/* cq_pass() where nodes stay: waits only for the node behind to link itself. */
static inline bool numa_pass_to_stay(struct cancel_queue *queue,
				     struct cq_node *node, u32 code, u32 place)
{
	u32 rounds = 0;

	while (!cq_grant(node, place)) {
		if (cq_is_last(queue, code))
			return false;
		cpu_relax_wait(&rounds);
	}
	return true;
}

/* cq_retire() where nodes stay. */
static inline bool numa_retire_to_stay(struct cancel_queue *queue,
				       struct cq_node *node, u32 code,
				       u32 place)
{
	u32 rounds = 0;

	while (!numa_pass_to_stay(queue, node, code, place)) {
		if (cq_move_tail(queue, code, 0))
			return false;
		cpu_relax_wait(&rounds);
	}
	return true;
}

/* cq_pass() and cq_retire() of a head, whose successor waits most likely. */
static inline bool numa_pass(struct cancel_queue *queue, struct cq_node *node,
			     u32 code, u32 place)
{
	if (queue->stays)
		return numa_pass_to_stay(queue, node, code, place);
	return cq_hand_over(node, code, place) ||
	       cq_pass(queue, node, code, NULL, place);
}

static inline bool numa_retire(struct cancel_queue *queue, struct cq_node *node,
			       u32 code, u32 place)
{
	if (queue->stays)
		return numa_retire_to_stay(queue, node, code, place);
	return cq_hand_over(node, code, place) ||
	       cq_retire(queue, node, code, NULL, place);
}

/* Whether a cluster's queue that cq_retire() has just emptied was sealed. */
static inline bool numa_was_sealed(const struct cancel_queue *queue)
{
	return !(queue->seen & CLUSTER_OPEN);
}

#endif
