// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* How a pthread mutex is waited for under each policy. */
#include "mutex_parts.h"

#include "qspinlock.h"
#include "spinners.h"

typedef int wait_fn(struct lk_mutex *, const struct lkp_deadline *,
		    const struct lk_spin_queue *);

static int spin(struct lk_mutex *m, const struct lkp_deadline *deadline,
		const struct lk_spin_queue *queue)
{
	return lk_mutex_spin(m, deadline, queue) ? 0 : -ETIMEDOUT;
}

/* By policy: what a waiter does, and the queue in which it spins. */
static const struct {
	wait_fn *wait;
	const struct lk_spin_queue *queue;
} waits[] = {
	[PRE_POLICY_MUTEX] = { lk_mutex_lock_slow_over, &lk_spin_over_osq },
	[PRE_POLICY_MUTEX_NUMA] = { lk_mutex_lock_slow_over,
				    &lk_spin_over_numa_osq },
	[PRE_POLICY_QSPIN_FAIR] = { spin, &lk_spin_over_qspin[LK_QSPIN_FAIR] },
	[PRE_POLICY_QSPIN_STEAL] = { spin,
				     &lk_spin_over_qspin[LK_QSPIN_STEAL] },
	[PRE_POLICY_QSPIN_TAS] = { spin, &lk_spin_over_qspin[LK_QSPIN_TAS] },
};

__cold int pre_mutex_lock_contended(struct lk_mutex *m,
				    const struct lkp_deadline *deadline)
{
	enum pre_policy policy = pre_policy();

	return -waits[policy].wait(m, deadline, waits[policy].queue);
}
