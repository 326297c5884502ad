// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The rwsem of rwsem.h, whose spinners queue in a numa_osq instead of an OSQ: a
 * `struct lk_rwsem` that is locked over lk_spin_over_numa_osq, and by nothing else.
 */
#include "catalogue.h"
#include "rwsem.h"

static void lock(void *lock)
{
	if (unlikely(!lk_rwsem_lock_fast(lock)))
		lk_rwsem_lock_slow(lock, NULL, &lk_spin_over_numa_osq);
}

static bool timedlock(void *lock, u64 ns)
{
	return lk_rwsem_op_timedlock(lock, ns, &lk_spin_over_numa_osq);
}

static void lock_read(void *lock)
{
	if (unlikely(!lk_rwsem_read_trylock(lock, LK_READER_PASSES)))
		lk_rwsem_read_lock_slow(lock, LK_READER_PASSES, NULL,
					&lk_spin_over_numa_osq);
}

static bool timedlock_read(void *lock, u64 ns)
{
	return lk_rwsem_op_read_timedlock(lock, ns, &lk_spin_over_numa_osq);
}

const struct lk_ops lk_rwsem_numa_ops = {
	.name = "rwsem_numa",
	.summary =
		"sleeping read/write lock; a long queue of spinners is divided "
		"by clusters of CPUs",
	.size = sizeof(struct lk_rwsem),
	.align = _Alignof(struct lk_rwsem),
	.flags = LK_RW | LK_SLEEPS | LK_FORKS | LK_CLUSTERS,
	.init = lk_rwsem_op_init,
	.lock = lock,
	.trylock = lk_rwsem_op_trylock,
	.timedlock = timedlock,
	.unlock = lk_rwsem_op_unlock,
	.read_lock = lock_read,
	.read_trylock = lk_rwsem_op_read_trylock,
	.read_timedlock = timedlock_read,
	.read_unlock = lk_rwsem_op_read_unlock,
	.downgrade = lk_rwsem_op_downgrade,
	.last_waiter = lk_rwsem_last_waiter,
};
