// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: one queue node a thread, whatever it is doing. A thread that holds
 * or waits for one lock and takes another wipes its place in the first queue.
 * Must be caught by: nesting.
 */
#include "mcs.h"
#include "pause.h"

static __thread struct node only;
static __thread u32 locked;

static void lock(void *lock)
{
	struct canary *canary = lock;

	if (locked++)
		pause_until(READ_ONCE(only.next));
	/* wrong: the node may be in use, one nesting level below */
	if (!join(canary, &only))
		smp_cond_load_acquire(&only.granted, VAL);
	canary->holder = &only;
}

static void unlock(void *lock)
{
	struct canary *canary = lock;

	leave(canary, canary->holder);
	locked--;
}

const struct lk_ops canary_nesting_ops = {
	.name = "canary_nesting",
	.summary = "broken: each thread has only one queue node",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.init = init,
	.lock = lock,
	.unlock = unlock,
};
