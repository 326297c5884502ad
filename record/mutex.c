// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* pthread_mutex_* and mtx_*, which glibc makes of the same objects. */
#include "mutex_parts.h"

#include "c11.h"

/* What the common call would lose time by: it has no need for the stack, nor to ask again. */
static __attribute__((noinline)) int
lock_special(struct rec_thread *t, pthread_mutex_t *m, void *site)
{
	int err;

	if (is_not_tried(t, m))
		err = REC_LOCK_UNTRIED(t, m, REC_MUTEX, site,
				       NEXT(pthread_mutex_lock)(m));
	else
		err = REC_LOCK(t, m, REC_MUTEX, site,
			       NEXT(pthread_mutex_trylock)(m),
			       pthread_mutex_lock);
	if (!err && !rec_is_nested(m))
		PRE_USDT(mutex_acquired, m);
	return err;
}

static __cold int lock_bare(pthread_mutex_t *m)
{
	int err = PASS(pthread_mutex_lock)(m);

	if (!err && !rec_is_nested(m))
		PRE_USDT(mutex_acquired, m);
	return err;
}

static __cold int wait(struct rec_thread *t, struct rec_site *s,
		       pthread_mutex_t *m)
{
	int err = rec_wait(t, s, m, (rec_full *)NEXT(pthread_mutex_lock));

	if (!err)
		PRE_USDT(mutex_acquired, m);
	return err;
}

static __always_inline int try_plain(pthread_mutex_t *m)
{
	int err = NEXT(pthread_mutex_trylock)(m);

	if (likely(!err))
		PRE_USDT(mutex_acquired, m);
	return err;
}

static __always_inline int lock(pthread_mutex_t *m, void *site)
{
	struct rec_thread *t;

	PRE_USDT(mutex_entry, m);
	t = rec_thread();
	if (unlikely(!t))
		return lock_bare(m);
	if (unlikely(t->alone) || unlikely(!is_plain(m)))
		return lock_special(t, m, site);
	return REC_LOCK_OR(t, m, REC_MUTEX, site, try_plain(m), wait(t, s_, m));
}

static inline int try(pthread_mutex_t *m, void *site)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_mutex_trylock)(m);
	return REC_TRY(t, m, REC_MUTEX, site, NEXT(pthread_mutex_trylock)(m));
}

REC_UNLOCK_SLOW(pthread_mutex_unlock, pthread_mutex_t)

static __always_inline int give(pthread_mutex_t *m)
{
	if (unlikely(!rec_release(rec_mine, m)))
		return unlock_slow(m);
	return NEXT(pthread_mutex_unlock)(m);
}

static __attribute__((noinline)) int unlock_special(pthread_mutex_t *m)
{
	bool nested = rec_is_nested(m);
	int err = give(m);

	if (!err && !nested)
		PRE_USDT(mutex_release, m);
	return err;
}

static __always_inline int unlock(pthread_mutex_t *m)
{
	int err;

	if (unlikely(!is_plain(m)))
		return unlock_special(m);
	err = give(m);
	if (likely(!err))
		PRE_USDT(mutex_release, m);
	return err;
}

/* -- pthread_mutex_* ----------------------------------------------------- */

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	return lock(m, LOCKER);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	return try(m, LOCKER);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	return unlock(m);
}

/* -- mtx_* --------------------------------------------------------------- */

EXPORT int mtx_lock(mtx_t *mtx)
{
	return lkp_thrd_result(lock((pthread_mutex_t *)mtx, LOCKER));
}

EXPORT int mtx_trylock(mtx_t *mtx)
{
	return lkp_thrd_result(try((pthread_mutex_t *)mtx, LOCKER));
}

EXPORT int mtx_unlock(mtx_t *mtx)
{
	return lkp_thrd_result(unlock((pthread_mutex_t *)mtx));
}
