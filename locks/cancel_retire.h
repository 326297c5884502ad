/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_CANCEL_RETIRE_H
#define LK_CANCEL_RETIRE_H

/*
 * How a node goes out of a cancellable queue: as the head, and as one that
 * leaves. cancel_queue.h says what such a queue is. One file of C has one kind
 * of tail.
 */
#include "cancel_queue.h"

/*
 * What the user of a queue defines before it uses one: its queues; whether
 * @code is the last node, which may be an old answer; and the step of the tail
 * from @code to @before, or to empty if that is 0, with a full RMW, if the tail
 * is @code still.
 */
struct cancel_queue;
static inline bool cq_is_last(struct cancel_queue *queue, u32 code);
static inline bool cq_move_tail(struct cancel_queue *queue, u32 code,
				u32 before);

/*
 * The node behind takes over @place, and the queue with it: true. False: @code
 * was seen to be the last, and nothing has changed. Waits only for steps of the
 * node behind. @prev: as in cq_move_up().
 */
static inline bool cq_pass(struct cancel_queue *queue, struct cq_node *node,
			   u32 code, struct cq_node *prev, u32 place)
{
	struct cq_node *next;
	u32 rounds = 0;

	for (;;) {
		next = READ_ONCE(node->next);
		if (next) {
			if (cq_move_up(next, code, prev, place))
				return true;
		} else if (cq_is_last(queue, code)) {
			return false;
		}
		cpu_relax_wait(&rounds);
	}
}

/*
 * Takes @node out of the queue: the head (@prev is NULL), or one LEAVING @prev. True:
 * the node behind has its @place now. False: there was none, and the tail was
 * moved. Not inline: for an unlock it is the slow step.
 */
static bool cq_retire(struct cancel_queue *queue, struct cq_node *node,
		      u32 code, struct cq_node *prev, u32 place)
{
	u32 before = prev ? place & CQ_BELOW : 0, rounds = 0;

	while (!cq_pass(queue, node, code, prev, place)) {
		if (prev) /* as in cq_move_up() */
			WRITE_ONCE(prev->next, NULL);
		if (cq_move_tail(queue, code, before))
			return false;
		cpu_relax_wait(&rounds);
	}
	return true;
}

/*
 * Gives up the wait in @place, which is BEHIND @prev: true, and gone. False:
 * the place is another one by now, so look again.
 */
static inline bool cq_leave(struct cancel_queue *queue, struct cq_node *node,
			    u32 code, struct cq_node *prev, u32 place)
{
	if (!cq_begin_leaving(node, place))
		return false;
	cq_retire(queue, node, code, prev, place);
	return true;
}

#endif
