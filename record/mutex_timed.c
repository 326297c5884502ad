// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Mutexes that are locked with a deadline. */
#define _GNU_SOURCE
#include "mutex_parts.h"

#include "c11.h"

static inline int take_until(pthread_mutex_t *m, const struct timespec *when,
			     void *site)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_mutex_timedlock)(m, when);
	if (is_not_tried(t, m))
		return REC_LOCK_UNTRIED(t, m, REC_MUTEX, site,
					NEXT(pthread_mutex_timedlock)(m, when));
	return REC_LOCK_UNTIL(t, m, REC_MUTEX, site,
			      NEXT(pthread_mutex_trylock)(m),
			      NEXT(pthread_mutex_timedlock)(m, when));
}

static inline int take_by_clock(pthread_mutex_t *m, clockid_t clock,
				const struct timespec *when, void *site)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_mutex_clocklock)(m, clock, when);
	if (is_not_tried(t, m))
		return REC_LOCK_UNTRIED(
			t, m, REC_MUTEX, site,
			NEXT(pthread_mutex_clocklock)(m, clock, when));
	return REC_LOCK_UNTIL(t, m, REC_MUTEX, site,
			      NEXT(pthread_mutex_trylock)(m),
			      NEXT(pthread_mutex_clocklock)(m, clock, when));
}

static inline int timed(pthread_mutex_t *m, const struct timespec *when,
			void *site)
{
	int err;

	PRE_USDT2(mutex_timedlock_entry, m, when);
	err = take_until(m, when, site);
	if (!err && !rec_is_nested(m))
		PRE_USDT(mutex_timedlock_acquired, m);
	return err;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m,
				   const struct timespec *when)
{
	return timed(m, when, LOCKER);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *when)
{
	int err;

	/* A wrong clock is refused before the lock is looked at. */
	if (!rec_is_clock(clock))
		return PASS(pthread_mutex_clocklock)(m, clock, when);
	PRE_USDT3(mutex_clocklock_entry, m, clock, when);
	err = take_by_clock(m, clock, when, LOCKER);
	if (!err && !rec_is_nested(m))
		PRE_USDT(mutex_timedlock_acquired, m);
	return err;
}

EXPORT int mtx_timedlock(mtx_t *restrict mtx,
			 const struct timespec *restrict when)
{
	return lkp_thrd_result(timed((pthread_mutex_t *)mtx, when, LOCKER));
}
