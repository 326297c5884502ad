// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* spinners.h says what these are for. */
#include "numa_osq.h"
#include "osq_lock.h"
#include "spinners.h"

_Static_assert(sizeof(struct lk_numa_osq) == sizeof(struct lk_osq) &&
		       _Alignof(struct lk_numa_osq) == _Alignof(struct lk_osq),
	       "the one stands where the other would");

static bool spin_osq_is_locked(const void *queue)
{
	return lk_osq_is_locked(queue);
}

static bool spin_osq_lock(void *queue)
{
	return lk_osq_lock(queue);
}

static void spin_osq_unlock(void *queue)
{
	lk_osq_unlock(queue);
}

const struct lk_spin_queue lk_spin_over_osq = {
	.is_locked = spin_osq_is_locked,
	.lock = spin_osq_lock,
	.unlock = spin_osq_unlock,
};

static bool spin_numa_is_locked(const void *queue)
{
	return lk_numa_osq_is_locked(queue);
}

static bool spin_numa_lock(void *queue)
{
	return lk_numa_osq_lock(queue);
}

static void spin_numa_unlock(void *queue)
{
	lk_numa_osq_unlock(queue);
}

const struct lk_spin_queue lk_spin_over_numa_osq = {
	.is_locked = spin_numa_is_locked,
	.lock = spin_numa_lock,
	.unlock = spin_numa_unlock,
};
