// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The mutex of locks/mutex.h over the queue of numa_osq_2024.h. */
#include "catalogue.h"
#include "mutex.h"
#include "numa_osq_2024.h"

static bool queue_is_locked(const void *queue)
{
	return lk_numa_2024_is_locked(queue);
}

static bool queue_lock(void *queue, const u32 *word)
{
	(void)word;
	return lk_numa_2024_lock(queue);
}

static void queue_unlock(void *queue)
{
	lk_numa_2024_unlock(queue);
}

static const struct lk_spin_queue over_numa_2024 = {
	.is_locked = queue_is_locked,
	.lock = queue_lock,
	.unlock = queue_unlock,
};

_Static_assert(sizeof(struct lk_numa_2024) == sizeof(struct lk_osq),
	       "the one stands where the other would");

static void lock(void *lock)
{
	if (unlikely(!lk_mutex_lock_fast(lock)))
		lk_mutex_lock_slow_over(lock, NULL, &over_numa_2024);
}

const struct lk_ops lk_mutex_numa_2024_ops = {
	.name = "mutex_numa_2024",
	.summary = "mutex over the dynamic NUMA-aware OSQ as published in 2024",
	.size = sizeof(struct lk_mutex),
	.align = _Alignof(struct lk_mutex),
	.flags = LK_SLEEPS | LK_FIFO | LK_FORKS | LK_CLUSTERS,
	.init = lk_mutex_op_init,
	.lock = lock,
	.trylock = lk_mutex_op_trylock,
	.unlock = lk_mutex_op_unlock,
};
