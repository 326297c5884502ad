/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef CANARY_TIMEOUT_H
#define CANARY_TIMEOUT_H

/* A byte lock with a time limit that works: what the canaries break. */
#include <catalogue.h>
#include <time.h>

struct canary {
	u32 held;
	u32 heir; /* a waiter, gone or not, whom the next unlock gives the lock */
};

static inline u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

static inline void init(void *lock)
{
	*(struct canary *)lock = (struct canary){ 0 };
}

static inline bool trylock(void *lock)
{
	return !xchg_acquire(&((struct canary *)lock)->held, 1);
}

static inline void lock(void *lock)
{
	while (!trylock(lock))
		smp_cond_load_relaxed(&((struct canary *)lock)->held, !VAL);
}

static inline void unlock(void *lock)
{
	struct canary *canary = lock;

	if (!READ_ONCE(canary->heir))
		smp_store_release(&canary->held, 0);
}

static inline bool try_until(struct canary *canary, u64 ns)
{
	u64 start = now_ns();

	do {
		if (trylock(canary))
			return true;
		lkp_yield();
	} while (now_ns() - start < ns);
	return false;
}

#define TIMEOUT_CANARY(ops, text, wrong, timed)   \
	const struct lk_ops ops = {               \
		.name = text,                     \
		.summary = "broken: " wrong,      \
		.size = sizeof(struct canary),    \
		.align = _Alignof(struct canary), \
		.init = init,                     \
		.lock = lock,                     \
		.unlock = unlock,                 \
		.trylock = trylock,               \
		.timedlock = timed,               \
	}

#endif
