// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* How a pthread mutex is waited for under each policy. */
#include "mutex_parts.h"

#include "mutex_numa.h"
#include "qspinlock.h"

/* Under a qspinlock policy the queue stands where the OSQ would. */
static int lock_spinning(struct lk_mutex *m, enum lk_qspin_mode mode,
			 const struct lw_deadline *deadline)
{
	struct lk_qspin *queue = (struct lk_qspin *)&m->osq;
	struct timespec now;
	u32 rounds = 0;

	_Static_assert(sizeof(*queue) == sizeof(m->osq), "same place");
	_Static_assert(LW_POLICY_QSPIN_TAS - LW_POLICY_QSPIN_FAIR ==
			       LK_QSPIN_TAS,
		       "the policies are in the modes' order");
	lk_mutex_check_epoch(m);
	if (!deadline) {
		lk_qspin_lock(queue, mode);
		while (!lk_mutex_trylock(m))
			smp_cond_load_relaxed(&m->word, VAL == LK_MUTEX_FREE);
		lk_qspin_unlock(queue);
		return 0;
	}
	/* A waiter with a deadline does not queue, because it could not leave. */
	while (!lk_mutex_trylock(m)) {
		clock_gettime(deadline->clock, &now);
		if (deadline_passed(deadline, now.tv_sec, now.tv_nsec))
			return -ETIMEDOUT;
		cpu_relax_wait(&rounds);
	}
	return 0;
}

__cold int lw_mutex_lock_contended(struct lk_mutex *m,
				   const struct lw_deadline *deadline)
{
	enum lw_policy policy = lw_policy();

	if (policy == LW_POLICY_MUTEX)
		return -lk_mutex_lock_slow(m, deadline);
	if (policy == LW_POLICY_MUTEX_NUMA)
		return -lk_mutex_numa_lock_slow(m, deadline);
	return -lock_spinning(m, policy - LW_POLICY_QSPIN_FAIR, deadline);
}
