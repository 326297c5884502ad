// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Where locks are made, which is noted, and where they are destroyed, which is not. */
#include "calls.h"
#include "probes.h"

#include "c11.h"

/* -- mutexes -------------------------------------------------------------- */

EXPORT int pthread_mutex_init(pthread_mutex_t *m,
			      const pthread_mutexattr_t *attr)
{
	int err;

	PRE_USDT(mutex_init, m);
	rec_init(m, CALLER);
	err = PASS(pthread_mutex_init)(m, attr);
	if (!err)
		rec_made(m, REC_MUTEX, false);
	return err;
}

EXPORT int mtx_init(mtx_t *mtx, int type)
{
	pthread_mutexattr_t attr;
	int err;

	_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t");
	PRE_USDT(mutex_init, mtx);
	rec_init(mtx, CALLER);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, lkp_mtx_is_recursive(type)
						 ? PTHREAD_MUTEX_RECURSIVE
						 : PTHREAD_MUTEX_TIMED_NP);
	err = PASS(pthread_mutex_init)((pthread_mutex_t *)mtx, &attr);
	if (!err)
		rec_made(mtx, REC_MUTEX, false);
	return lkp_thrd_result(err);
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
	PRE_USDT(mutex_destroy, m);
	return PASS(pthread_mutex_destroy)(m);
}

EXPORT void mtx_destroy(mtx_t *mtx)
{
	PRE_USDT(mutex_destroy, mtx);
	PASS(pthread_mutex_destroy)((pthread_mutex_t *)mtx);
}

/* -- condition variables --------------------------------------------------- */

EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	int err;

	PRE_USDT2(cond_init, c, attr);
	rec_init(c, CALLER);
	err = PASS(pthread_cond_init)(c, attr);
	if (!err)
		rec_made(c, REC_COND, false);
	return err;
}

EXPORT int cnd_init(cnd_t *c)
{
	int err;

	_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "cnd_t");
	PRE_USDT2(cond_init, c, NULL);
	rec_init(c, CALLER);
	err = PASS(pthread_cond_init)((pthread_cond_t *)c, NULL);
	if (!err)
		rec_made(c, REC_COND, false);
	return lkp_thrd_result(err);
}

EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
	PRE_USDT(cond_destroy, c);
	return PASS(pthread_cond_destroy)(c);
}

EXPORT void cnd_destroy(cnd_t *c)
{
	PRE_USDT(cond_destroy, c);
	PASS(pthread_cond_destroy)((pthread_cond_t *)c);
}

/* -- the rest -------------------------------------------------------------- */

EXPORT int pthread_rwlock_init(pthread_rwlock_t *l,
			       const pthread_rwlockattr_t *attr)
{
	int err;

	rec_init(l, CALLER);
	err = PASS(pthread_rwlock_init)(l, attr);
	if (!err)
		rec_made(l, REC_WRITE, false);
	return err;
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	PRE_USDT(rwlock_destroy, l);
	return PASS(pthread_rwlock_destroy)(l);
}

EXPORT int pthread_spin_init(pthread_spinlock_t *s, int pshared)
{
	rec_init((void *)s, CALLER);
	rec_made((void *)s, REC_SPIN, pshared == PTHREAD_PROCESS_SHARED);
	return PASS(pthread_spin_init)(s, pshared);
}
