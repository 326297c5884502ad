// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: a knob says which of two words is the lock, and whoever comes after the
 * knob was turned takes the other word while the first one is still held. With
 * knobs that stand still it is a good lock.
 * Must be caught by: switching.
 */
#include <catalogue.h>
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
	u32 which = knob(dynamic_enable) &
		    1; /* wrong: nobody waits for the other */
	u32 rounds = 0;

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
	.summary = "broken: a knob that is turned lets a second one in",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.init = init,
	.lock = lock,
	.unlock = unlock,
};
