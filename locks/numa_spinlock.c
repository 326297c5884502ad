// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* numa_spinlock.h has states, invariants and sources. */
#include "catalogue.h"
#include "numa_spinlock.h"

_Static_assert(offsetof(struct lk_numa_spin, locked) == 0 &&
		       offsetof(struct lk_numa_spin, queue) == 4 &&
		       sizeof(struct lk_numa_spin) == 8,
	       "locked is the word's low half, and the queue its high one");

__cold void lk_numa_spin_lock_slow(struct lk_numa_spin *lock)
{
	u32 rounds = 0;
	bool kept;

	if (unlikely(!lk_numa_osq_lock_to_stay(&lock->queue))) {
		/* No slot left, or nested too deep: waits until nobody does. */
		while (!lk_numa_spin_trylock(lock))
			cpu_relax_wait(&rounds);
		return;
	}
	/* Asked now, while it waits anyhow. */
	kept = lk_numa_osq_keep(&lock->queue);
	/* [numa_spinlock.C] ACQUIRE, pairs with numa_spinlock.B. */
	smp_cond_load_acquire(&lock->locked, !VAL);
	/* (n, 0), and ours as long as the queue is. */
	if (kept)
		return;
	/* (n, 0) -> (n, 1). Orders nothing: the next head sees it by the hand-over
	 * of the queue, others by the word that tells them of no queue. */
	WRITE_ONCE(lock->locked, 1);
	lk_numa_osq_unlock(&lock->queue);
}

static void init(void *lock)
{
	*(struct lk_numa_spin *)lock = (struct lk_numa_spin)LK_NUMA_SPIN_INIT;
}

static void lock(void *lock)
{
	lk_numa_spin_lock(lock);
}

static bool trylock(void *lock)
{
	return lk_numa_spin_trylock(lock);
}

static void unlock(void *lock)
{
	lk_numa_spin_unlock(lock);
}

static u64 last_waiter(const void *lock)
{
	return READ_ONCE(((const struct lk_numa_spin *)lock)->queue.tail);
}

const struct lk_ops lk_numa_spin_ops = {
	.name = "numa_spinlock",
	.summary = "spinlock whose queue is divided by clusters of CPUs while "
		   "long",
	.size = sizeof(struct lk_numa_spin),
	.align = _Alignof(struct lk_numa_spin),
	.flags = LK_CLUSTERS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
	.last_waiter = last_waiter,
};
