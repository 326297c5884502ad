// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: one queue node a thread, whatever it is doing. A thread that holds
 * or waits for one lock and takes another wipes its place in the first queue.
 * Must be caught by: nesting.
 */
#include "mcs.h"

static __thread struct node only;

static void lock(void *lock)
{
	struct canary *canary = lock;

	/* wrong: the node may be in use, one nesting level below */
	if (!join(canary, &only))
		smp_cond_load_acquire(&only.granted, VAL);
	canary->holder = &only;
}

static void unlock(void *lock)
{
	struct canary *canary = lock;

	leave(canary, canary->holder);
}

const struct lk_ops canary_nesting_ops = {
	.name = "canary_nesting",
	.summary = "broken: one node a thread",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.init = init,
	.lock = lock,
	.unlock = unlock,
};
