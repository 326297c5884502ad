// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: a knob says which of two words is the lock. A thread that comes after the
 * knob was turned takes the other word while the first one is still held. While no
 * knob changes it is a good lock.
 * Must be caught by: switching.
 */
#include "pause.h"
#include <knobs.h>

struct canary {
	u32 held[2];
	u32 which; /* the holder's */
};

static void init(void *lock)
{
	*(struct canary *)lock = (struct canary){ 0 };
}

static void lock(void *lock)
{
	struct canary *canary = lock;
	u32 which = knob(dynamic_enable) & 1;
	u32 rounds = 0;

	/* wrong: nobody waits for the holder of the other word */
	pause_until(READ_ONCE(canary->held[!which]));
	while (xchg_acquire(&canary->held[which], 1))
		cpu_relax_wait(&rounds);
	canary->which = which;
}

static void unlock(void *lock)
{
	struct canary *canary = lock;

	smp_store_release(&canary->held[canary->which], 0);
}

const struct lk_ops canary_switching_ops = {
	.name = "canary_switching",
	.summary = "broken: changing a knob lets a second thread in",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.init = init,
	.lock = lock,
	.unlock = unlock,
};
