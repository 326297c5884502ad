// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* mtx_* and cnd_*: glibc's are its pthread objects under other names. So are ours. */
#include "preload.h"

#include "c11.h"

/* -- mtx_* --------------------------------------------------------------- */

EXPORT int mtx_init(mtx_t *mtx, int type)
{
	pthread_mutexattr_t attr;

	_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, lkp_mtx_is_recursive(type)
						 ? PTHREAD_MUTEX_RECURSIVE
						 : PTHREAD_MUTEX_TIMED_NP);
	return lkp_thrd_result(
		pthread_mutex_init((pthread_mutex_t *)mtx, &attr));
}

EXPORT int mtx_lock(mtx_t *mtx)
{
	return lkp_thrd_result(pthread_mutex_lock((pthread_mutex_t *)mtx));
}

EXPORT int mtx_trylock(mtx_t *mtx)
{
	return lkp_thrd_result(pthread_mutex_trylock((pthread_mutex_t *)mtx));
}

EXPORT int mtx_timedlock(mtx_t *restrict mtx,
			 const struct timespec *restrict when)
{
	return lkp_thrd_result(
		pthread_mutex_timedlock((pthread_mutex_t *)mtx, when));
}

EXPORT int mtx_unlock(mtx_t *mtx)
{
	return lkp_thrd_result(pthread_mutex_unlock((pthread_mutex_t *)mtx));
}

EXPORT void mtx_destroy(mtx_t *mtx)
{
	pthread_mutex_destroy((pthread_mutex_t *)mtx);
}

/* -- cnd_* --------------------------------------------------------------- */

EXPORT int cnd_init(cnd_t *cnd)
{
	_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "cnd_t");
	return lkp_thrd_result(pthread_cond_init((pthread_cond_t *)cnd, NULL));
}

EXPORT int cnd_signal(cnd_t *cnd)
{
	return lkp_thrd_result(pthread_cond_signal((pthread_cond_t *)cnd));
}

EXPORT int cnd_broadcast(cnd_t *cnd)
{
	return lkp_thrd_result(pthread_cond_broadcast((pthread_cond_t *)cnd));
}

EXPORT int cnd_wait(cnd_t *cnd, mtx_t *mtx)
{
	return lkp_thrd_result(pthread_cond_wait((pthread_cond_t *)cnd,
						 (pthread_mutex_t *)mtx));
}

EXPORT int cnd_timedwait(cnd_t *restrict cnd, mtx_t *restrict mtx,
			 const struct timespec *restrict when)
{
	return lkp_thrd_result(pthread_cond_timedwait(
		(pthread_cond_t *)cnd, (pthread_mutex_t *)mtx, when));
}

EXPORT void cnd_destroy(cnd_t *cnd)
{
	pthread_cond_destroy((pthread_cond_t *)cnd);
}

/* -- versions ------------------------------------------------------------- */

PRE_VERSIONS(mtx_init, "2.28", "2.34");
PRE_VERSIONS(mtx_destroy, "2.28", "2.34");
PRE_VERSIONS(mtx_lock, "2.28", "2.34");
PRE_VERSIONS(mtx_trylock, "2.28", "2.34");
PRE_VERSIONS(mtx_timedlock, "2.28", "2.34");
PRE_VERSIONS(mtx_unlock, "2.28", "2.34");
PRE_VERSIONS(cnd_init, "2.28", "2.34");
PRE_VERSIONS(cnd_destroy, "2.28", "2.34");
PRE_VERSIONS(cnd_signal, "2.28", "2.34");
PRE_VERSIONS(cnd_broadcast, "2.28", "2.34");
PRE_VERSIONS(cnd_wait, "2.28", "2.34");
PRE_VERSIONS(cnd_timedwait, "2.28", "2.34");
