// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: one queue node a CPU. A handler that waits for a lock wipes the place of the
 * task that it interrupted. Must be caught by handlers that nest: the queue hangs.
 */
#include <linux/percpu.h>

#include "../tests/canaries/mcs.h"

static DEFINE_PER_CPU(struct node, only);

static void lock(void *lock)
{
	struct node *node = this_cpu_ptr(&only);
	struct canary *canary = lock;

	/* wrong: the node may be in use, one nesting level below */
	if (!join(canary, node))
		smp_cond_load_acquire(&node->granted, VAL);
	canary->holder = node;
}

static void unlock(void *lock)
{
	struct canary *canary = lock;

	leave(canary, canary->holder);
}

const struct lk_ops canary_nesting_ops = {
	.name = "canary_nesting",
	.summary = "broken: each CPU has only one queue node",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.init = init,
	.lock = lock,
	.unlock = unlock,
};
