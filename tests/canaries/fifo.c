// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: promises LK_FIFO and keeps its waiters on a stack: the last to come is
 * served first.
 * Must be caught by: fifo.
 */
#include <catalogue.h>

struct waiter {
	struct waiter *below;
	u32 granted;
};

struct canary {
	u32 guard;
	u32 held;
	u64 joined;
	u64 last;
	struct waiter *top;
};

static void init(void *lock)
{
	*(struct canary *)lock = (struct canary){ 0 };
}

static void guard(struct canary *canary)
{
	while (xchg_acquire(&canary->guard, 1))
		smp_cond_load_relaxed(&canary->guard, !VAL);
}

static void unguard(struct canary *canary)
{
	smp_store_release(&canary->guard, 0);
}

static void lock(void *lock)
{
	struct canary *canary = lock;
	struct waiter self = { 0 };

	guard(canary);
	if (!canary->held) {
		canary->held = 1;
		unguard(canary);
		return;
	}
	self.below = canary->top; /* wrong: a queue adds at its other end */
	canary->top = &self;
	WRITE_ONCE(canary->last, ++canary->joined);
	unguard(canary);
	smp_cond_load_acquire(&self.granted, VAL);
}

static void unlock(void *lock)
{
	struct canary *canary = lock;
	struct waiter *next;

	guard(canary);
	next = canary->top;
	if (next) {
		canary->top = next->below;
		if (!canary->top)
			WRITE_ONCE(canary->last, 0);
		smp_store_release(&next->granted, 1);
	} else {
		canary->held = 0;
	}
	unguard(canary);
}

static u64 last_waiter(const void *lock)
{
	return READ_ONCE(((const struct canary *)lock)->last);
}

const struct lk_ops canary_fifo_ops = {
	.name = "canary_fifo",
	.summary = "broken: promises FIFO order, serves waiters as a stack",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.flags = LK_FIFO,
	.init = init,
	.lock = lock,
	.unlock = unlock,
	.last_waiter = last_waiter,
};
