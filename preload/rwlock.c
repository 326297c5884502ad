// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_rwlock_*: a struct lk_rwsem in place.
 *
 *   offset  0 sem         the lock
 *          24 cur_writer  the writer's thread id, where glibc has it too
 *          40 mark        it is ours, see mark.c
 *          48 flags       glibc's kind, which static initializers set
 */
#include "rwlock_parts.h"
#include "watch.h"

#include <string.h>

EXPORT int pthread_rwlock_init(pthread_rwlock_t *l,
			       const pthread_rwlockattr_t *attr)
{
	int shared = PTHREAD_PROCESS_PRIVATE, kind = PTHREAD_RWLOCK_DEFAULT_NP;

	if (attr) {
		pthread_rwlockattr_getpshared(attr, &shared);
		pthread_rwlockattr_getkind_np(attr, &kind);
	}
	memset(l, 0, sizeof(*l)); /* glibc's init may leave an old mark */
	if (shared == PTHREAD_PROCESS_SHARED)
		return __pthread_rwlock_init(l, attr);
	ours(l)->flags = (u32)kind;
	ours(l)->mark = PRE_MARK;
	return 0;
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	PRE_USDT(rwlock_destroy, l);
	if (is_glibcs(l))
		return __pthread_rwlock_destroy(l);
	return 0; /* as glibc, also if it is held */
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	int err;

	PRE_USDT(rdlock_entry, l);
	err = is_glibcs(l) ? __pthread_rwlock_rdlock(l)
			   : read_until(ours(l), 0, NULL);
	if (!err)
		PRE_USDT(rdlock_acquire_read, l);
	return err;
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	int err;

	PRE_USDT(wrlock_entry, l);
	err = is_glibcs(l) ? __pthread_rwlock_wrlock(l)
			   : write_until(ours(l), 0, NULL);
	if (!err)
		PRE_USDT(wrlock_acquire_write, l);
	return err;
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_tryrdlock(l);
	return try_read(ours(l)) ? 0 : EBUSY;
}

EXPORT int pre_read_at_once(pthread_rwlock_t *l)
{
	struct rwlock *o = ours(l);
	bool taken;

	if (is_glibcs(l))
		return __pthread_rwlock_tryrdlock(l);
	taken = lk_rwsem_read_trylock(&o->sem, reads_as(o));
	lkp_self.readers += taken;
	return taken ? 0 : EBUSY;
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_trywrlock(l);
	return try_write(ours(l)) ? 0 : EBUSY;
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return pre_reals()->rwlock_timedrdlock(l, when);
	return read_until(ours(l), CLOCK_REALTIME, when);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return pre_reals()->rwlock_timedwrlock(l, when);
	return write_until(ours(l), CLOCK_REALTIME, when);
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return pre_reals()->rwlock_clockrdlock(l, clock, when);
	if (bad_clock(clock))
		return EINVAL;
	return read_until(ours(l), clock, when);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return pre_reals()->rwlock_clockwrlock(l, clock, when);
	if (bad_clock(clock))
		return EINVAL;
	return write_until(ours(l), clock, when);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	PRE_USDT(rwlock_unlock, l);
	if (is_glibcs(l))
		return __pthread_rwlock_unlock(l);
	unlock(ours(l));
	return 0;
}

/* -- versions ------------------------------------------------------------- */

PRE_VERSIONS(pthread_rwlock_init, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_destroy, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_rdlock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_tryrdlock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_timedrdlock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_wrlock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_trywrlock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_timedwrlock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_unlock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_rwlock_clockrdlock, "2.30", "2.34");
PRE_VERSIONS(pthread_rwlock_clockwrlock, "2.30", "2.34");
