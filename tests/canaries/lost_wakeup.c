// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: a waiter says that it sleeps and sleeps, without looking at the lock
 * again in between. An unlock that came before the word was set wakes nobody,
 * and one wake-up clears the word for all sleepers. The last ones sleep on
 * while the lock is free.
 * Must be caught by: progress.
 *
 * A waiter pauses until such an unlock came: it comes, because the lock was held.
 */
#include <catalogue.h>

struct canary {
	u32 held;
	u32 asleep;
	atomic_t unlocks; /* counted when all is done */
};

static void init(void *lock)
{
	*(struct canary *)lock = (struct canary){ 0 };
}

static bool trylock(void *lock)
{
	return !xchg_acquire(&((struct canary *)lock)->held, 1);
}

static void lock(void *lock)
{
	struct canary *canary = lock;

	for (;;) {
		int before = atomic_read(&canary->unlocks);

		if (trylock(canary))
			break;
		atomic_cond_read_relaxed(&canary->unlocks, VAL != before);
		WRITE_ONCE(canary->asleep, 1);
		/* wrong: the lock may be free by now, and nobody will say so */
		lkp_futex_wait(&canary->asleep, 1, NULL);
	}
}

static void unlock(void *lock)
{
	struct canary *canary = lock;

	smp_store_release(&canary->held, 0);
	if (xchg(&canary->asleep, 0))
		wake_value(&canary->asleep);
	atomic_add(1, &canary->unlocks);
}

const struct lk_ops canary_lost_wakeup_ops = {
	.name = "canary_lost_wakeup",
	.summary = "broken: a waiter sleeps without checking again",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.flags = LK_SLEEPS,
	.init = init,
	.lock = lock,
	.unlock = unlock,
	.trylock = trylock,
};
