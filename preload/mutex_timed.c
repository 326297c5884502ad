// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Mutexes that are locked with a deadline, and those that have an owner. */
#include "mutex_parts.h"

int pre_mutex_lock_until(pthread_mutex_t *pm, clockid_t clock,
			 const struct timespec *when)
{
	struct lk_mutex *m = ours(pm);
	bool plain = is_plain(kind_of(m));
	struct lkp_deadline deadline;
	u32 tid = 0;
	int err;

	if (!plain) {
		tid = lkp_tid();
		if (owned_already(m, tid, false, &err))
			return err;
	}
	if (!take(m)) {
		/* A time before 1970 is over, as in glibc, whatever its ns. */
		if (when && when->tv_sec >= 0 && bad_time(when))
			return EINVAL;
		if (when)
			deadline = deadline_at(clock, when);
		err = pre_mutex_lock_contended(m, when ? &deadline : NULL);
		if (err)
			return err;
	}
	if (!plain)
		own(m, tid);
	if (when)
		PRE_USDT(mutex_timedlock_acquired, pm);
	else
		PRE_USDT(mutex_acquired, pm);
	return 0;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *pm,
				   const struct timespec *when)
{
	int err;

	PRE_USDT2(mutex_timedlock_entry, pm, when);
	if (!is_glibcs(kind_of(ours(pm))))
		return pre_mutex_lock_until(pm, CLOCK_REALTIME, when);
	err = pre_reals()->mutex_timedlock(pm, when);
	if (!err)
		PRE_USDT(mutex_timedlock_acquired, pm);
	return err;
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *pm, clockid_t clock,
				   const struct timespec *when)
{
	int err;

	if (bad_clock(clock))
		return EINVAL;
	PRE_USDT3(mutex_clocklock_entry, pm, clock, when);
	if (!is_glibcs(kind_of(ours(pm))))
		return pre_mutex_lock_until(pm, clock, when);
	err = pre_reals()->mutex_clocklock(pm, clock, when);
	if (!err)
		PRE_USDT(mutex_timedlock_acquired, pm);
	return err;
}

PRE_VERSIONS(pthread_mutex_timedlock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_mutex_clocklock, "2.30", "2.34");
