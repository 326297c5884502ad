/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_CANCEL_QUEUE_H
#define LK_CANCEL_QUEUE_H

/*
 * A cancellable queue: an MCS queue whose waiters may leave from any place.
 * Papers call such queues abortable. osq_lock is one. numa_osq is made of
 * several.
 *
 * A queue's tail is a word of its user, and names the last node by a code,
 * which is not 0. The first node is the head, and owns what the queue is for.
 * Each node has a place. It is one word, and says how the node relates to
 * the one before it, its predecessor:
 *
 *   ARRIVING    has the tail, and has not said yet whom it is behind
 *   BEHIND p    waits directly behind the node with code p
 *   LEAVING p   the same, and it does not wait any more
 *   GRANTED g   is the head; g is what the last head passed on to it
 *
 * Transitions of a place, and who makes them:
 *
 *   ARRIVING  -> BEHIND p     the node itself           cq_append()
 *   BEHIND p  -> BEHIND o     p, which was BEHIND o     cq_leave() of p
 *   BEHIND p  -> GRANTED g    p, which was the head     cq_hand_over(), cq_pass()
 *   BEHIND p  -> LEAVING p    the node itself           cq_leave()
 *   LEAVING p -> gone         the node itself           cq_retire()
 *
 * To leave and to unlock are one step, retire: the node behind takes over the
 * place, BEHIND o or GRANTED g. If there is none, the tail goes back to o, or
 * to 0. A queue, as (tail; places), A the head:
 *
 *   append B       (A; A)                        -> (B; A, B BEHIND A)
 *   B leaves       (C; A, B BEHIND A, C BEHIND B)
 *                                                -> (C; A, C BEHIND A)
 *                  (B; A, B BEHIND A)            -> (A; A)
 *   A retires      (B; A, B BEHIND A)            -> (B; B GRANTED g)
 *                  (A; A)                        -> (0; )
 *
 * In a queue whose nodes stay (the calls that end in _to_stay, and cq_grant()), a node is
 * BEHIND p before the link to it is made, and p makes it GRANTED by a store. Invariant 1 and
 * the rule for `next` are for the other queues.
 *
 * Here are the steps of a node's place; cancel_retire.h has those that may move
 * the tail.
 *
 * Invariants:
 *  1. A node that is BEHIND p or LEAVING p comes directly after p, in p's queue.
 *     Its place is changed by its own thread, or by p from BEHIND p, with a
 *     compare-and-exchange. So either p changes it, or the node leaves.
 *  2. A node goes only when the node behind it has taken over its place, or
 *     when the tail does not name it any more. So while a node is LEAVING p, p
 *     stays.
 *  3. A node is in one queue at a time, and its code is no other node's that
 *     the same nodes may be behind. So a node that reads an old link, and finds
 *     the node there BEHIND its own code, has found the node behind it.
 *  4. A node that retires waits for the node behind, which waits for its own:
 *     towards the tail, so not in a circle. A node waits for its predecessor in
 *     BEHIND only, and can leave.
 *
 * Written from: the queue of Mellor-Crummey & Scott, TOCS 1991; the idea of
 * leaving by an agreement with both neighbours from Scott & Scherer, "Scalable
 * Queue-Based Spin Locks with Timeout", PPoPP 2001. The protocol is this file's
 * own.
 */
#include <platform.h>

struct cq_node {
	/*
	 * Where to look for the node behind: there, or, if NULL, at the tail.
	 * Must name the node directly behind from before that node is BEHIND
	 * us. May name one that has left, or be NULL, while nobody is BEHIND
	 * us.
	 *
	 * Written by the node that arrives behind us, and then by the one that
	 * is LEAVING us. So nobody writes it while a node is BEHIND us, and our
	 * thread may use the node again once it has gone.
	 */
	struct cq_node *next;
	/*
	 * CQ_... below. Must be ARRIVING before the tail names the node: a fork
	 * may have left anything there. May be changed by another thread only
	 * while it is BEHIND: the head's place, or that of a node that leaves,
	 * is its own.
	 */
	u32 place;
	/* Where its thread ran when it queued: a hint, may be of an older use. */
	u32 vcpu;
};

/* A place: its kind; below, the predecessor's code, or what was granted. */
#define CQ_ARRIVING 0u
#define CQ_BEHIND   (1u << 30)
#define CQ_LEAVING  (2u << 30)
#define CQ_GRANTED  (3u << 30)
#define CQ_BELOW    (CQ_BEHIND - 1)

static inline bool cq_is_granted(u32 place)
{
	return place >= CQ_GRANTED;
}

/* Before the node's code is put into a tail: ARRIVING. */
static inline void cq_init(struct cq_node *node)
{
	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->place, CQ_ARRIVING);
}

/* The place of a node that waits. Granted: the last head's writes are seen. */
static inline u32 cq_place(const struct cq_node *node)
{
	/* [cancel_queue.B] ACQUIRE, pairs with cancel_queue.C and
	 * cancel_queue.F. */
	return smp_load_acquire(&node->place);
}

/* ARRIVING -> BEHIND @before: the tail named @prev, with that code. */
static inline void cq_append(struct cq_node *node, struct cq_node *prev,
			     u32 before)
{
	WRITE_ONCE(prev->next, node);
	/* [cancel_queue.A] RELEASE, pairs with cancel_queue.C: the predecessor
	 * may use its node again once it sees BEHIND, so our write to its link
	 * must come first. */
	smp_store_release(&node->place, CQ_BEHIND | before);
}

/*
 * @next, BEHIND @code -> @place. False: it is not there yet, or it leaves.
 * @prev: the predecessor of @code, if that is LEAVING; NULL: @code is the head.
 */
static inline bool cq_move_up(struct cq_node *next, u32 code,
			      struct cq_node *prev, u32 place)
{
	u32 behind = CQ_BEHIND | code;

	if (READ_ONCE(next->place) != behind)
		return false;
	if (prev) /* invariant 2: it stays */
		WRITE_ONCE(prev->next, next);
	/* [cancel_queue.C] full RMW, pairs with cancel_queue.A, cancel_queue.B
	 * and itself: @next sees the last head's writes. And writes to a link
	 * keep their order: ours above comes before those of @next, and what
	 * was written to our own before its next use. Spare acq_rel: the kernel
	 * has no RMW between release and full. Spare release: in the model
	 * writes to a word have the order in which they ran. */
	return try_cmpxchg(&next->place, &behind, place);
}

/*
 * The head's first try: the node behind, BEHIND @code -> @place. It is not
 * looked at before: it waits there most likely, and then its line comes over
 * once, for writing. False: it is not there yet, or it leaves, or there is
 * none.
 */
static inline bool cq_hand_over(struct cq_node *node, u32 code, u32 place)
{
	struct cq_node *next = READ_ONCE(node->next);
	u32 behind = CQ_BEHIND | code;

	/* [cancel_queue.C] */
	return next && try_cmpxchg(&next->place, &behind, place);
}

/* -- queues that nobody leaves ------------------------------------------- */

/*
 * cq_append() where nodes stay: BEHIND first, and then the link. So who finds the node
 * by the link knows that it is BEHIND, and grants by a store.
 */
static inline void cq_append_to_stay(struct cq_node *node, struct cq_node *prev,
				     u32 before)
{
	WRITE_ONCE(node->place, CQ_BEHIND | before);
	/* [cancel_queue.D] RELEASE, pairs with cancel_queue.E: the grant comes
	 * after BEHIND. */
	smp_store_release(&prev->next, node);
}

/*
 * cq_hand_over() there: the node behind, if there is a link to it, -> @place. False:
 * there is none yet.
 */
static inline bool cq_grant(struct cq_node *node, u32 place)
{
	/* [cancel_queue.E] address dependency, pairs with cancel_queue.D. */
	struct cq_node *next = READ_ONCE_DEP(node->next);

	if (!next)
		return false;
	/* [cancel_queue.F] RELEASE, pairs with cancel_queue.B: @next sees the
	 * last head's writes. */
	smp_store_release(&next->place, place);
	return true;
}

/* -- to leave ------------------------------------------------------------ */

/* BEHIND p -> LEAVING p. False: the place is another one than @place by now. */
static inline bool cq_begin_leaving(struct cq_node *node, u32 place)
{
	/* Orders nothing: @place was loaded by cancel_queue.B, and no place
	 * comes back while its node is in the queue. */
	return try_cmpxchg_relaxed(&node->place, &place,
				   place - CQ_BEHIND + CQ_LEAVING);
}

#endif
