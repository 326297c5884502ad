// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_rwlock_*. Of several readers the latest is known as the holder. A call with a
 * deadline or a clock that is wrong is refused by the next definition, untried.
 */
#define _GNU_SOURCE
#include "calls.h"
#include "probes.h"

#include <dlfcn.h>

/* What rdlock() does before it waits, of a policy's interposer: preload/watch.h. NULL: tryrdlock(). */
static __typeof__(&pthread_rwlock_tryrdlock) read_at_once;

void rec_rwlock_prepare(void)
{
	read_at_once =
		(__typeof__(read_at_once))dlsym(RTLD_NEXT, "pre_read_at_once");
	if (!read_at_once)
		dlerror(); /* the program's first is not ours */
}

static inline int try_read(pthread_rwlock_t *l)
{
	return read_at_once ? read_at_once(l)
			    : NEXT(pthread_rwlock_tryrdlock)(l);
}

static __always_inline int read(pthread_rwlock_t *l, void *site)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_rwlock_rdlock)(l);
	return REC_LOCK(t, l, REC_READ, site, try_read(l),
			pthread_rwlock_rdlock);
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	int err;

	PRE_USDT(rdlock_entry, l);
	err = read(l, LOCKER);
	if (likely(!err))
		PRE_USDT(rdlock_acquire_read, l);
	return err;
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_rwlock_tryrdlock)(l);
	return REC_TRY(t, l, REC_READ, LOCKER,
		       NEXT(pthread_rwlock_tryrdlock)(l));
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l,
				      const struct timespec *when)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t) || !rec_is_right(when))
		return PASS(pthread_rwlock_timedrdlock)(l, when);
	return REC_LOCK_UNTIL(t, l, REC_READ, LOCKER, try_read(l),
			      NEXT(pthread_rwlock_timedrdlock)(l, when));
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *when)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t) || !rec_is_right(when) || !rec_is_clock(clock))
		return PASS(pthread_rwlock_clockrdlock)(l, clock, when);
	return REC_LOCK_UNTIL(t, l, REC_READ, LOCKER, try_read(l),
			      NEXT(pthread_rwlock_clockrdlock)(l, clock, when));
}

static __always_inline int write(pthread_rwlock_t *l, void *site)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_rwlock_wrlock)(l);
	return REC_LOCK(t, l, REC_WRITE, site,
			NEXT(pthread_rwlock_trywrlock)(l),
			pthread_rwlock_wrlock);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	int err;

	PRE_USDT(wrlock_entry, l);
	err = write(l, LOCKER);
	if (likely(!err))
		PRE_USDT(wrlock_acquire_write, l);
	return err;
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_rwlock_trywrlock)(l);
	return REC_TRY(t, l, REC_WRITE, LOCKER,
		       NEXT(pthread_rwlock_trywrlock)(l));
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l,
				      const struct timespec *when)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t) || !rec_is_right(when))
		return PASS(pthread_rwlock_timedwrlock)(l, when);
	return REC_LOCK_UNTIL(t, l, REC_WRITE, LOCKER,
			      NEXT(pthread_rwlock_trywrlock)(l),
			      NEXT(pthread_rwlock_timedwrlock)(l, when));
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *when)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t) || !rec_is_right(when) || !rec_is_clock(clock))
		return PASS(pthread_rwlock_clockwrlock)(l, clock, when);
	return REC_LOCK_UNTIL(t, l, REC_WRITE, LOCKER,
			      NEXT(pthread_rwlock_trywrlock)(l),
			      NEXT(pthread_rwlock_clockwrlock)(l, clock, when));
}

REC_UNLOCK_SLOW(pthread_rwlock_unlock, pthread_rwlock_t)

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	PRE_USDT(rwlock_unlock, l);
	if (unlikely(!rec_release(rec_mine, l)))
		return unlock_slow(l);
	return NEXT(pthread_rwlock_unlock)(l);
}
