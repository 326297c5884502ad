// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: an attempt that gives up leaves its node in the queue, so the lock
 * is handed to nobody and all who come later wait for ever.
 * Must be caught by: cancel (as a stall there).
 */
#include "mcs.h"
#include <stdlib.h>

static void lock(void *lock)
{
	struct canary *canary = lock;
	struct node *self = calloc(1, sizeof(*self)); /* leaked: it may stay */

	if (!join(canary, self))
		smp_cond_load_acquire(&self->granted, VAL);
	canary->holder = self;
}

static void unlock(void *lock)
{
	struct canary *canary = lock;

	leave(canary, canary->holder);
}

static bool attempt(void *lock)
{
	struct canary *canary = lock;
	struct node *self = calloc(1, sizeof(*self));
	u32 rounds = 0;

	if (!join(canary, self)) {
		while (!smp_load_acquire(&self->granted)) {
			if (rounds > 100)
				return false; /* wrong: still in the queue */
			cpu_relax_wait(&rounds);
		}
	}
	canary->holder = self;
	return true;
}

static u64 last_waiter(const void *lock)
{
	const struct canary *canary = lock;
	struct node *tail = READ_ONCE(canary->tail);

	return tail == canary->holder ? 0 : (u64)(uintptr_t)tail;
}

const struct lk_ops canary_cancel_ops = {
	.name = "canary_cancel",
	.summary = "broken: a waiter that gives up stays in the queue",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.flags = LK_CANCEL,
	.init = init,
	.lock = lock,
	.unlock = unlock,
	.attempt = attempt,
	.last_waiter = last_waiter,
};
