// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* rival_node.h says what these are. */
#include "rival_node.h"

DEFINE_WAIT_NODES(struct lk_rival_node, rival_nodes);

struct lk_rival_node *lk_rival_try_push(void)
{
	struct lk_rival_node *node;
	u32 slot, level;

	queue_enter(); /* until the node is no longer ours */
	slot = this_slot();
	level = wait_depth(rival_nodes);
	if (unlikely(!slot || level >= LKP_MAX_NEST)) {
		queue_exit();
		return NULL;
	}
	wait_depth(rival_nodes)++;
	barrier(); /* a signal handler's lock from here on is one level up */
	node = wait_node(rival_nodes, slot, level);
	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->state, 0);
	/* [rival_node.A] WMB, pairs with the acquires by which others find a node:
	 * it is clean before that. */
	smp_wmb();
	return node;
}

struct lk_rival_node *lk_rival_push(void)
{
	struct lk_rival_node *node;
	u32 rounds = 0;

	while (unlikely(!(node = lk_rival_try_push())))
		cpu_relax_wait(&rounds);
	return node;
}

struct lk_rival_node *lk_rival_top(void)
{
	return wait_node(rival_nodes, this_slot(), wait_depth(rival_nodes) - 1);
}

u32 lk_rival_code(void)
{
	return this_slot() * LKP_MAX_NEST + wait_depth(rival_nodes) - 1;
}

struct lk_rival_node *lk_rival_decode(u32 code)
{
	return wait_node(rival_nodes, code / LKP_MAX_NEST, code % LKP_MAX_NEST);
}

void lk_rival_pop(void)
{
	barrier();
	wait_depth(rival_nodes)--;
	queue_exit();
}
