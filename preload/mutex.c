// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_mutex_* and mtx_*: a struct lk_mutex in place.
 *
 *   offset  0 word       glibc's meaning too: 0 free, 1 held, 2 held + waiters
 *           4 count      depth of a recursive mutex
 *           8 owner      thread id, for recursive and error-checking ones; 0
 *                        in a free mutex, which glibc asserts
 *          12 nusers     threads in a condvar wait that will want it back, and
 *                        the holder of a recursive or error-checking one
 *          16 kind       glibc's; robust, PI, PP and shared ones stay glibc's
 *          20 to 39      the rest of struct lk_mutex
 *
 * So code that bypasses us and runs glibc's functions on the same object still
 * excludes ours, and is excluded. The kind is fixed by init: after the
 * probe an object never changes hands.
 */
#include "mutex_parts.h"

/* -- recursive and error-checking mutexes -------------------------------- */

static int unlock_glibcs(pthread_mutex_t *pm)
{
	bool nested = is_nested(ours(pm));
	int err = pre_reals()->mutex_unlock(pm);

	if (!err && !nested)
		PRE_USDT(mutex_release, pm);
	return err;
}

/* Unlock of a mutex that is not a plain one; glibc's too. */
static __cold int unlock_special(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);

	if (is_glibcs(kind_of(m)))
		return unlock_glibcs(pm);
	if (READ_ONCE(m->embed[OWNER]) != lkp_tid() ||
	    READ_ONCE(m->word) == LK_MUTEX_FREE)
		return EPERM;
	if ((kind_of(m) & KIND_TYPE) == RECURSIVE && --m->embed[COUNT])
		return 0;
	disown(m);
	give(m);
	PRE_USDT(mutex_release, pm);
	return 0;
}

/* -- pthread_mutex_* ----------------------------------------------------- */

EXPORT int pthread_mutex_init(pthread_mutex_t *pm,
			      const pthread_mutexattr_t *attr)
{
	PRE_USDT(mutex_init, pm);
	return __pthread_mutex_init(pm, attr);
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);

	PRE_USDT(mutex_destroy, pm);
	if (is_glibcs(kind_of(m)))
		return __pthread_mutex_destroy(pm);
	if (READ_ONCE(m->word) != LK_MUTEX_FREE ||
	    (int)READ_ONCE(m->embed[NUSERS]) > 0)
		return EBUSY;
	WRITE_ONCE(m->embed[KIND], ~0u);
	return 0;
}

/* Lock of a mutex that is not a plain one, or not free. */
static __cold int lock_slow(pthread_mutex_t *pm)
{
	u32 kind = kind_of(ours(pm));
	int err;

	if (is_plain(kind))
		err = pre_mutex_lock_contended(ours(pm), NULL);
	else if (is_glibcs(kind))
		err = pre_reals()->mutex_lock(pm);
	else
		return pre_mutex_lock_until(pm, 0, NULL);
	if (!err && !is_nested(ours(pm)))
		PRE_USDT(mutex_acquired, pm);
	return err;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);

	PRE_USDT(mutex_entry, pm);
	if (unlikely(!is_plain(kind_of(m))) || unlikely(!take(m)))
		return lock_slow(pm);
	PRE_USDT(mutex_acquired, pm);
	return 0;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);
	u32 kind = kind_of(m), tid;
	int err;

	if (likely(is_plain(kind)))
		return lk_mutex_trylock(m) ? 0 : EBUSY;
	if (is_glibcs(kind))
		return __pthread_mutex_trylock(pm);
	tid = lkp_tid();
	if (owned_already(m, tid, true, &err))
		return err;
	if (!lk_mutex_trylock(m))
		return EBUSY;
	own(m, tid);
	return 0;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *pm)
{
	if (unlikely(!is_plain(kind_of(ours(pm)))))
		return unlock_special(pm);
	give_plain(ours(pm));
	PRE_USDT(mutex_release, pm);
	return 0;
}

PRE_VERSION(pthread_mutex_init, "2.2.5");
PRE_VERSION(pthread_mutex_destroy, "2.2.5");
PRE_VERSION(pthread_mutex_lock, "2.2.5");
PRE_VERSION(pthread_mutex_unlock, "2.2.5");
PRE_VERSIONS(pthread_mutex_trylock, "2.2.5", "2.34");
