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
#include "words.h"

#include "mutex_numa.h"
#include "qspinlock.h"

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
	       (READ_ONCE(lw_plain_types) >> (kind & KIND_TYPE) & 1);
}

static inline bool is_glibcs(u32 kind)
{
	return (kind & KIND_GLIBCS) || !READ_ONCE(lw_plain_types);
}

static inline u32 kind_of(struct lk_mutex *m)
{
	return READ_ONCE(m->embed[KIND]);
}

/* -- the lock itself ----------------------------------------------------- */

/* Under a qspinlock policy the queue stands where the OSQ would. */
static int lock_spinning(struct lk_mutex *m, enum lk_qspin_mode mode,
			 const struct lw_deadline *deadline)
{
	struct lk_qspin *queue = (struct lk_qspin *)&m->osq;
	struct timespec now;
	u32 rounds = 0;

	_Static_assert(sizeof(*queue) == sizeof(m->osq), "same place");
	_Static_assert(LW_POLICY_QSPIN_TAS - LW_POLICY_QSPIN_FAIR ==
			       LK_QSPIN_TAS,
		       "the policies are in the modes' order");
	lk_mutex_check_epoch(m);
	if (!deadline) {
		lk_qspin_lock(queue, mode);
		while (!lk_mutex_trylock(m))
			smp_cond_load_relaxed(&m->word, VAL == LK_MUTEX_FREE);
		lk_qspin_unlock(queue);
		return 0;
	}
	/* The queue cannot be left, so who has a deadline stays out of it. */
	while (!lk_mutex_trylock(m)) {
		clock_gettime(deadline->clock, &now);
		if (deadline_passed(deadline, now.tv_sec, now.tv_nsec))
			return -ETIMEDOUT;
		cpu_relax_wait(&rounds);
	}
	return 0;
}

static __cold int lock_contended(struct lk_mutex *m,
				 const struct lw_deadline *deadline)
{
	enum lw_policy policy = lw_policy();

	if (policy == LW_POLICY_MUTEX)
		return -lk_mutex_lock_slow(m, deadline);
	if (policy == LW_POLICY_MUTEX_NUMA)
		return -lk_mutex_numa_lock_slow(m, deadline);
	return -lock_spinning(m, policy - LW_POLICY_QSPIN_FAIR, deadline);
}

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
	if (unlikely(READ_ONCE(m->embed[OWNER])))
		disown(m);
	give(m);
}

/* -- recursive and error-checking mutexes -------------------------------- */

/* True: the caller has it already, and *@err is what its call returns. */
static bool owned_already(struct lk_mutex *m, u32 tid, bool try, int *err)
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

static void own(struct lk_mutex *m, u32 tid)
{
	m->embed[COUNT] = (kind_of(m) & KIND_TYPE) == RECURSIVE;
	WRITE_ONCE(m->embed[OWNER], tid);
	WRITE_ONCE(m->embed[NUSERS], m->embed[NUSERS] + 1);
}

/* Lock with a deadline in some clock; @when NULL: none. Not for glibc's. */
static int lock_until(struct lk_mutex *m, clockid_t clock,
		      const struct timespec *when)
{
	bool plain = is_plain(kind_of(m));
	struct lw_deadline deadline;
	u32 tid = 0;
	int err;

	if (!plain) {
		tid = lw_tid();
		if (owned_already(m, tid, false, &err))
			return err;
	}
	if (!take(m)) {
		if (when && bad_time(when))
			return EINVAL;
		if (when)
			deadline = deadline_at(clock, when);
		err = lock_contended(m, when ? &deadline : NULL);
		if (err)
			return err;
	}
	if (!plain)
		own(m, tid);
	return 0;
}

/* Unlock of a mutex that is not a plain one; glibc's too. */
static __cold int unlock_special(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);

	if (is_glibcs(kind_of(m)))
		return __pthread_mutex_unlock(pm);
	if (READ_ONCE(m->embed[OWNER]) != lw_tid() ||
	    READ_ONCE(m->word) == LK_MUTEX_FREE)
		return EPERM;
	if ((kind_of(m) & KIND_TYPE) == RECURSIVE && --m->embed[COUNT])
		return 0;
	disown(m);
	give(m);
	return 0;
}

/* -- pthread_mutex_* ----------------------------------------------------- */

EXPORT int pthread_mutex_init(pthread_mutex_t *pm,
			      const pthread_mutexattr_t *attr)
{
	return __pthread_mutex_init(pm, attr);
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);

	if (is_glibcs(kind_of(m)))
		return __pthread_mutex_destroy(pm);
	if (READ_ONCE(m->word) != LK_MUTEX_FREE ||
	    (int)READ_ONCE(m->embed[NUSERS]) > 0)
		return EBUSY;
	WRITE_ONCE(m->embed[KIND], ~0u);
	return 0;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);
	u32 kind = kind_of(m);

	if (likely(is_plain(kind)))
		return likely(take(m)) ? 0 : lock_contended(m, NULL);
	if (is_glibcs(kind))
		return __pthread_mutex_lock(pm);
	return lock_until(m, 0, NULL);
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
	tid = lw_tid();
	if (owned_already(m, tid, true, &err))
		return err;
	if (!lk_mutex_trylock(m))
		return EBUSY;
	own(m, tid);
	return 0;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *pm,
				   const struct timespec *when)
{
	if (is_glibcs(kind_of(ours(pm))))
		return lw_reals()->mutex_timedlock(pm, when);
	return lock_until(ours(pm), CLOCK_REALTIME, when);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *pm, clockid_t clock,
				   const struct timespec *when)
{
	if (is_glibcs(kind_of(ours(pm))))
		return lw_reals()->mutex_clocklock(pm, clock, when);
	if (bad_clock(clock))
		return EINVAL;
	return lock_until(ours(pm), clock, when);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *pm)
{
	if (unlikely(!is_plain(kind_of(ours(pm)))))
		return unlock_special(pm);
	give_plain(ours(pm));
	return 0;
}

/* -- for condvars -------------------------------------------------------- */

/*
 * Gives the mutex up for a wait, whatever its depth, which goes to *@depth.
 * It counts as in use meanwhile: destroy says EBUSY.
 */
int lw_mutex_leave(pthread_mutex_t *pm, u32 *depth)
{
	struct lk_mutex *m = ours(pm);
	u32 kind = kind_of(m);

	*depth = 0;
	if (is_glibcs(kind))
		return __pthread_mutex_unlock(pm);
	if (!is_plain(kind) && READ_ONCE(m->embed[OWNER]) != lw_tid())
		return EPERM;
	*depth = m->embed[COUNT];
	m->embed[COUNT] = 0;
	WRITE_ONCE(m->embed[NUSERS], m->embed[NUSERS] + 1);
	if (READ_ONCE(m->embed[OWNER]))
		disown(m);
	give(m);
	return 0;
}

/* It is the caller's again, as deep as it was. */
void lw_mutex_taken(pthread_mutex_t *pm, u32 depth)
{
	struct lk_mutex *m = ours(pm);

	WRITE_ONCE(m->embed[NUSERS], m->embed[NUSERS] - 1);
	if (!is_plain(kind_of(m))) {
		own(m, lw_tid());
		m->embed[COUNT] = depth;
	}
}

int lw_mutex_enter(pthread_mutex_t *pm, u32 depth)
{
	if (is_glibcs(kind_of(ours(pm))))
		return __pthread_mutex_lock(pm);
	if (!take(ours(pm)))
		lock_contended(ours(pm), NULL);
	lw_mutex_taken(pm, depth);
	return 0;
}

struct lk_mutex *lw_mutex_to_move_to(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);
	u32 kind = kind_of(m);

	if (is_glibcs(kind))
		return NULL;
	return READ_ONCE(m->embed[OWNER]) == (is_plain(kind) ? 0 : lw_tid())
		       ? m
		       : NULL;
}
