// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: looks whether the lock is free, then sets it, in two steps. A thread
 * that pauses in between goes in while another one is inside.
 * Must be caught by: exclusion.
 */
#include "pause.h"

struct canary {
	u32 held;
};

static void init(void *lock)
{
	*(struct canary *)lock = (struct canary){ 0 };
}

static bool trylock(void *lock)
{
	struct canary *canary = lock;

	if (smp_load_acquire(&canary->held))
		return false;
	pause_until(READ_ONCE(canary->held));
	WRITE_ONCE(canary->held, 1); /* wrong: must be one RMW with the load */
	return true;
}

static void lock(void *lock)
{
	struct canary *canary = lock;

	while (!trylock(canary))
		smp_cond_load_relaxed(&canary->held, !VAL);
}

static void unlock(void *lock)
{
	smp_store_release(&((struct canary *)lock)->held, 0);
}

const struct lk_ops canary_exclusion_ops = {
	.name = "canary_exclusion",
	.summary = "broken: tests and sets in two steps",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.init = init,
	.lock = lock,
	.unlock = unlock,
	.trylock = trylock,
};
