// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* include/lockwork/lockwork.h over the locks; checks under LOCKWORK_DEBUG. */
#include "debug.h"
#include "lib.h"
#include "mutex_numa.h"
#include "once.h"
#include "qrwlock.h"

#include <errno.h>

_Static_assert(sizeof(lw_mutex_t) == sizeof(struct lk_mutex), "mutex size");
_Static_assert(_Alignof(lw_mutex_t) == _Alignof(struct lk_mutex),
	       "mutex align");
_Static_assert(sizeof(lw_spinlock_t) == sizeof(struct lk_qspin), "spin size");
_Static_assert((int)LW_SPIN_AUTO == (int)LK_QSPIN_AUTO, "spin modes");
_Static_assert(sizeof(lw_rwlock_t) == sizeof(struct lk_qrw), "rwlock size");

static struct lk_mutex *mutex_of(lw_mutex_t *m)
{
	return (struct lk_mutex *)m;
}

static struct lk_qspin *spin_of(lw_spinlock_t *s)
{
	return (struct lk_qspin *)s;
}

static struct lk_qrw *rw_of(lw_rwlock_t *l)
{
	return (struct lk_qrw *)l;
}

/* -- the mutexes' queue -------------------------------------------------- */

/* 1 more than the enum lw_mutex_queue; 0: not decided, nobody has waited. */
static u32 mutex_queue;

int lw_mutex_set_queue(enum lw_mutex_queue queue)
{
	u32 wanted = (u32)queue + 1;

	if (queue != LW_MUTEX_OSQ && queue != LW_MUTEX_NUMA_OSQ)
		return EINVAL;
	return lw_decide(&mutex_queue, wanted) == wanted ? 0 : EBUSY;
}

/* lk_mutex_lock_slow() over what was decided. */
static int wait_for_mutex(struct lk_mutex *m,
			  const struct lw_deadline *deadline)
{
	u32 queue = READ_ONCE(mutex_queue);

	if (unlikely(!queue))
		queue = lw_decide(&mutex_queue, LW_MUTEX_OSQ + 1);
	if (queue == LW_MUTEX_NUMA_OSQ + 1)
		return lk_mutex_numa_lock_slow(m, deadline);
	return lk_mutex_lock_slow(m, deadline);
}

static inline void lock_mutex(struct lk_mutex *m)
{
	if (unlikely(!lk_mutex_lock_fast(m)))
		wait_for_mutex(m, NULL);
}

/* -- LOCKWORK_DEBUG ------------------------------------------------------ */

static __cold void debug_lock(struct lk_mutex *m, const void *site)
{
	struct lw_debug_wait wait;

	lw_debug_check_lock(m);
	if (!lk_mutex_lock_fast(m)) {
		lw_debug_wait_begin(&wait, m, site);
		wait_for_mutex(m, NULL);
		lw_debug_wait_end(&wait);
	}
	lw_debug_locked(m, site);
}

static __cold void debug_unlock(struct lk_mutex *m)
{
	lw_debug_check_unlock(m);
	lk_mutex_unlock(m);
}

/* Where the caller of the function that says this was called. */
#define CALLER __builtin_return_address(0)

/* -- mutex --------------------------------------------------------------- */

void lw_mutex_lock(lw_mutex_t *m)
{
	if (unlikely(lw_debug))
		debug_lock(mutex_of(m), CALLER);
	else
		lock_mutex(mutex_of(m));
}

void lw_mutex_lock_slow(lw_mutex_t *m)
{
	wait_for_mutex(mutex_of(m), NULL);
}

bool lw_mutex_trylock(lw_mutex_t *m)
{
	bool taken = lk_mutex_trylock(mutex_of(m));

	if (unlikely(lw_debug) && taken)
		lw_debug_locked(mutex_of(m), CALLER);
	return taken;
}

static bool lock_until(struct lk_mutex *m, const struct lw_deadline *deadline,
		       const void *site)
{
	bool taken = lk_mutex_lock_fast(m) || wait_for_mutex(m, deadline) == 0;

	if (unlikely(lw_debug) && taken)
		lw_debug_locked(m, site);
	return taken;
}

bool lw_mutex_timedlock(lw_mutex_t *m, const struct timespec *deadline)
{
	struct lw_deadline until;

	deadline_at(&until, deadline);
	return lock_until(mutex_of(m), &until, CALLER);
}

bool lw_mutex_lock_for(lw_mutex_t *m, uint64_t ns)
{
	struct lw_deadline until;

	deadline_after(&until, ns);
	return lock_until(mutex_of(m), &until, CALLER);
}

void lw_mutex_unlock(lw_mutex_t *m)
{
	if (unlikely(lw_debug))
		debug_unlock(mutex_of(m));
	else
		lk_mutex_unlock(mutex_of(m));
}

void lw_mutex_destroy(lw_mutex_t *m)
{
	if (unlikely(lw_debug))
		lw_debug_check_destroy(mutex_of(m));
}

/* -- spinlock ------------------------------------------------------------ */

u32 lw_spin_mode = LK_QSPIN_AUTO;

void lw_spin_set_mode(enum lw_spin_mode mode)
{
	WRITE_ONCE(lw_spin_mode, (u32)mode);
}

void lw_spin_lock(lw_spinlock_t *s)
{
	lk_qspin_lock(spin_of(s), READ_ONCE(lw_spin_mode));
}

void lw_spin_lock_slow(lw_spinlock_t *s, uint32_t seen)
{
	lk_qspin_lock_slow(spin_of(s), seen, READ_ONCE(lw_spin_mode));
}

bool lw_spin_trylock(lw_spinlock_t *s)
{
	return lk_qspin_trylock(spin_of(s), READ_ONCE(lw_spin_mode));
}

void lw_spin_unlock(lw_spinlock_t *s)
{
	lk_qspin_unlock(spin_of(s));
}

/* -- read/write lock ----------------------------------------------------- */

void lw_read_lock(lw_rwlock_t *l)
{
	lk_qrw_read_lock(rw_of(l));
}

bool lw_read_trylock(lw_rwlock_t *l)
{
	return lk_qrw_read_trylock(rw_of(l));
}

void lw_read_unlock(lw_rwlock_t *l)
{
	lk_qrw_read_unlock(rw_of(l));
}

void lw_write_lock(lw_rwlock_t *l)
{
	lk_qrw_lock(rw_of(l));
}

bool lw_write_trylock(lw_rwlock_t *l)
{
	return lk_qrw_trylock(rw_of(l));
}

void lw_write_unlock(lw_rwlock_t *l)
{
	lk_qrw_unlock(rw_of(l));
}
