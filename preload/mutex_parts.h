/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PRE_MUTEX_PARTS_H
#define PRE_MUTEX_PARTS_H

/* Steps of which the calls for a pthread mutex are made; mutex.c has the layout. */
#include "words.h"

#include <limits.h>

#define RECURSIVE  PTHREAD_MUTEX_RECURSIVE_NP
#define ERRORCHECK PTHREAD_MUTEX_ERRORCHECK_NP

static inline struct lk_mutex *ours(pthread_mutex_t *m)
{
	return (struct lk_mutex *)m;
}

/* NORMAL or ADAPTIVE: nobody asks who the owner is. */
static inline bool is_plain(u32 kind)
{
	return !(kind & KIND_GLIBCS) &&
	       (READ_ONCE(pre_plain_types) >> (kind & KIND_TYPE) & 1);
}

static inline bool is_glibcs(u32 kind)
{
	return (kind & KIND_GLIBCS) || !READ_ONCE(pre_plain_types);
}

static inline u32 kind_of(struct lk_mutex *m)
{
	return READ_ONCE(m->embed[KIND]);
}

/* -- the lock itself ----------------------------------------------------- */

static inline bool take(struct lk_mutex *m)
{
	if (!single_threaded())
		return lk_mutex_lock_fast(m);
	if (READ_ONCE(m->word) != LK_MUTEX_FREE)
		return false;
	WRITE_ONCE(m->word, LK_MUTEX_HELD);
	return true;
}

static inline void give(struct lk_mutex *m)
{
	if (single_threaded() && READ_ONCE(m->word) == LK_MUTEX_HELD)
		WRITE_ONCE(m->word, LK_MUTEX_FREE);
	else
		lk_mutex_unlock(m);
}

/* The holder is no longer its owner, and no longer counted. */
static inline void disown(struct lk_mutex *m)
{
	WRITE_ONCE(m->embed[OWNER], 0);
	WRITE_ONCE(m->embed[NUSERS], m->embed[NUSERS] - 1);
}

/* A plain mutex has an owner only if glibc's own code locked it. */
static inline void give_plain(struct lk_mutex *m)
{
	if (unlikely(READ_ONCE(m->embed[OWNER]))) {
		WRITE_ONCE(lkp_foreign_unlocks, 1);
		disown(m);
	}
	give(m);
}

/* Recursive or error-checking: @tid is its owner now, once. */
static inline void own(struct lk_mutex *m, u32 tid)
{
	m->embed[COUNT] = (kind_of(m) & KIND_TYPE) == RECURSIVE;
	WRITE_ONCE(m->embed[OWNER], tid);
	WRITE_ONCE(m->embed[NUSERS], m->embed[NUSERS] + 1);
}

/* True: the caller has it already, and *@err is what its call returns. */
static inline bool owned_already(struct lk_mutex *m, u32 tid, bool try,
				 int *err)
{
	if (READ_ONCE(m->embed[OWNER]) != tid)
		return false;
	if ((kind_of(m) & KIND_TYPE) == ERRORCHECK) {
		*err = try ? EBUSY : EDEADLK;
	} else if (m->embed[COUNT] == UINT_MAX) {
		*err = EAGAIN;
	} else {
		m->embed[COUNT]++;
		*err = 0;
	}
	return true;
}

/*
 * The caller holds a recursive mutex more than once. glibc fires no probe when such a
 * mutex is acquired again, nor when it is released but for the last time.
 */
static inline bool is_nested(struct lk_mutex *m)
{
	return READ_ONCE(pre_plain_types) &&
	       (kind_of(m) & KIND_TYPE) == RECURSIVE &&
	       READ_ONCE(m->embed[COUNT]) > 1;
}

/* Lock with a deadline in some clock; @when NULL: none. Not for glibc's mutexes. */
int pre_mutex_lock_until(pthread_mutex_t *pm, clockid_t clock,
			 const struct timespec *when);

/* Waits for a mutex that take() did not get, as the policy says. 0 or ETIMEDOUT. */
__cold int pre_mutex_lock_contended(struct lk_mutex *m,
				    const struct lkp_deadline *deadline);

#endif
