/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_MUTEX_NUMA_H
#define LK_MUTEX_NUMA_H

/*
 * The mutex of mutex.h, whose spinners queue in a numa_osq instead of an OSQ: a
 * `struct lk_mutex` that is locked by these, and by nothing else, and unlocked as
 * any.
 */
#include "mutex.h"

/* 0, or -ETIMEDOUT past @deadline (NULL: never). */
int lk_mutex_numa_lock_slow(struct lk_mutex *m,
			    const struct lkp_deadline *deadline);

static inline void lk_mutex_numa_lock(struct lk_mutex *m)
{
	if (unlikely(!lk_mutex_lock_fast(m)))
		lk_mutex_numa_lock_slow(m, NULL);
}

#endif
