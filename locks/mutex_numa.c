// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "catalogue.h"
#include "mutex_numa.h"

__cold int lk_mutex_numa_lock_slow(struct lk_mutex *m,
				   const struct lkp_deadline *deadline)
{
	return lk_mutex_lock_slow_over(m, deadline, &lk_spin_over_numa_osq);
}

static void lock(void *lock)
{
	lk_mutex_numa_lock(lock);
}

static bool timedlock(void *lock, u64 ns)
{
	return lk_mutex_op_timedlock(lock, ns, &lk_spin_over_numa_osq);
}

const struct lk_ops lk_mutex_numa_ops = {
	.name = "mutex_numa",
	.summary = "sleeping mutex; a long queue of spinners is divided by "
		   "clusters of CPUs",
	.size = sizeof(struct lk_mutex),
	.align = _Alignof(struct lk_mutex),
	.flags = LK_SLEEPS | LK_FIFO | LK_FORKS | LK_CLUSTERS,
	.init = lk_mutex_op_init,
	.lock = lock,
	.trylock = lk_mutex_op_trylock,
	.timedlock = timedlock,
	.unlock = lk_mutex_op_unlock,
	.last_waiter = lk_mutex_last_waiter,
};
