// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* pthread_mutex_* and mtx_*, which glibc makes of the same objects. */
#include "calls.h"

#include "c11.h"

/*
 * glibc's trylock changes errno where a mutex with a priority ceiling refuses, and leaves
 * a robust mutex locked that cannot be recovered. Their locks are not tried first.
 */
#define ROBUST	0x10
#define CEILING 0x40

#define SHARED 0x80

/*
 * Nor is a free one tried first while the process has one thread: glibc's lock is cheaper
 * then, and nobody can hold it. Of a shared one another process may be the holder. A process
 * that has had a second thread is not asked again.
 */
static inline bool is_not_tried(struct rec_thread *t, const pthread_mutex_t *m)
{
	u32 kind = (u32)READ_ONCE(m->__data.__kind);

	if (unlikely(t->alone)) {
		t->alone = rec_alone();
		if (t->alone && !(kind & SHARED) &&
		    !READ_ONCE(m->__data.__lock))
			return true;
	}
	return unlikely(kind & (ROBUST | CEILING));
}

/* Not a part of the common call, which is shorter so. */
static __attribute__((noinline)) int untried(struct rec_thread *t,
					     pthread_mutex_t *m, void *site)
{
	return REC_LOCK_UNTRIED(t, m, REC_MUTEX, site,
				NEXT(pthread_mutex_lock)(m));
}

static __always_inline int lock(pthread_mutex_t *m, void *site)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_mutex_lock)(m);
	if (unlikely(is_not_tried(t, m)))
		return untried(t, m, site);
	return REC_LOCK(t, m, REC_MUTEX, site, NEXT(pthread_mutex_trylock)(m),
			pthread_mutex_lock);
}

static inline int try(pthread_mutex_t *m, void *site)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_mutex_trylock)(m);
	return REC_TRY(t, m, REC_MUTEX, site, NEXT(pthread_mutex_trylock)(m));
}

static inline int timed(pthread_mutex_t *m, const struct timespec *when,
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

REC_UNLOCK_SLOW(pthread_mutex_unlock, pthread_mutex_t)

static inline int unlock(pthread_mutex_t *m)
{
	if (unlikely(!rec_release(rec_mine, m)))
		return unlock_slow(m);
	return NEXT(pthread_mutex_unlock)(m);
}

/* -- pthread_mutex_* ----------------------------------------------------- */

EXPORT int pthread_mutex_init(pthread_mutex_t *m,
			      const pthread_mutexattr_t *attr)
{
	rec_init(m, CALLER);
	return PASS(pthread_mutex_init)(m, attr);
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	return lock(m, LOCKER);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	return try(m, LOCKER);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m,
				   const struct timespec *when)
{
	return timed(m, when, LOCKER);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *when)
{
	struct rec_thread *t = rec_thread();

	/* A wrong clock is refused before the lock is looked at. */
	if (unlikely(!t) ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return PASS(pthread_mutex_clocklock)(m, clock, when);
	if (is_not_tried(t, m))
		return REC_LOCK_UNTRIED(
			t, m, REC_MUTEX, LOCKER,
			NEXT(pthread_mutex_clocklock)(m, clock, when));
	return REC_LOCK_UNTIL(t, m, REC_MUTEX, LOCKER,
			      NEXT(pthread_mutex_trylock)(m),
			      NEXT(pthread_mutex_clocklock)(m, clock, when));
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	return unlock(m);
}

/* -- mtx_* --------------------------------------------------------------- */

EXPORT int mtx_init(mtx_t *mtx, int type)
{
	pthread_mutexattr_t attr;

	_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t");
	rec_init(mtx, CALLER);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, lkp_mtx_is_recursive(type)
						 ? PTHREAD_MUTEX_RECURSIVE
						 : PTHREAD_MUTEX_TIMED_NP);
	return lkp_thrd_result(
		PASS(pthread_mutex_init)((pthread_mutex_t *)mtx, &attr));
}

EXPORT int mtx_lock(mtx_t *mtx)
{
	return lkp_thrd_result(lock((pthread_mutex_t *)mtx, LOCKER));
}

EXPORT int mtx_trylock(mtx_t *mtx)
{
	return lkp_thrd_result(try((pthread_mutex_t *)mtx, LOCKER));
}

EXPORT int mtx_timedlock(mtx_t *restrict mtx,
			 const struct timespec *restrict when)
{
	return lkp_thrd_result(timed((pthread_mutex_t *)mtx, when, LOCKER));
}

EXPORT int mtx_unlock(mtx_t *mtx)
{
	return lkp_thrd_result(unlock((pthread_mutex_t *)mtx));
}
