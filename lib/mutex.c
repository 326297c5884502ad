// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* lw_mutex_t: a struct lk_mutex, and the checks of LOCKWORK_DEBUG. */
#include "debug.h"
#include "lib.h"
#include "mutex_numa.h"
#include "queue.h"

_Static_assert(sizeof(lw_mutex_t) == sizeof(struct lk_mutex), "size");
_Static_assert(_Alignof(lw_mutex_t) == _Alignof(struct lk_mutex), "alignment");

static struct lk_mutex *mutex_of(lw_mutex_t *m)
{
	return (struct lk_mutex *)m;
}

static int wait_for_mutex(struct lk_mutex *m,
			  const struct lkp_deadline *deadline)
{
	if (lwlib_spin_in_numa_osq())
		return lk_mutex_numa_lock_slow(m, deadline);
	return lk_mutex_lock_slow(m, deadline);
}

static inline void lock_mutex(struct lk_mutex *m)
{
	if (unlikely(!lk_mutex_lock_fast(m)))
		wait_for_mutex(m, NULL);
}

/* -- LOCKWORK_DEBUG ------------------------------------------------------ */

/*
 * Waits for a second. The holder of @m cannot get it in that time. Any other thread gets
 * it, or the mutex names its true holder by then.
 */
static __cold bool gets_past_itself(struct lk_mutex *m)
{
	struct lkp_deadline second;

	deadline_after(&second, 1000000000);
	return wait_for_mutex(m, &second) == 0;
}

static __cold void debug_lock(struct lk_mutex *m, const void *site)
{
	struct lwlib_debug_wait wait;
	bool taken = lk_mutex_lock_fast(m) ||
		     (lwlib_debug_seems_mine(m) && gets_past_itself(m));

	if (!taken) {
		lwlib_debug_check_lock(m);
		lwlib_debug_wait_begin(&wait, m, site);
		wait_for_mutex(m, NULL);
		lwlib_debug_wait_end(&wait);
	}
	lwlib_debug_locked(m, site);
}

static __cold void debug_unlock(struct lk_mutex *m)
{
	lwlib_debug_check_unlock(m);
	lk_mutex_unlock(m);
}

/* Where the caller of the function that says this was called. */
#define CALLER __builtin_return_address(0)

/* -- mutex --------------------------------------------------------------- */

void lw_mutex_lock(lw_mutex_t *m)
{
	if (unlikely(lwlib_debug))
		debug_lock(mutex_of(m), CALLER);
	else
		lock_mutex(mutex_of(m));
}

void lwlib_mutex_lock_slow(lw_mutex_t *m)
{
	wait_for_mutex(mutex_of(m), NULL);
}

bool lw_mutex_trylock(lw_mutex_t *m)
{
	bool taken = lk_mutex_trylock(mutex_of(m));

	if (unlikely(lwlib_debug) && taken)
		lwlib_debug_locked(mutex_of(m), CALLER);
	return taken;
}

static bool lock_until(struct lk_mutex *m, const struct lkp_deadline *deadline,
		       const void *site)
{
	bool taken = lk_mutex_lock_fast(m) || wait_for_mutex(m, deadline) == 0;

	if (unlikely(lwlib_debug) && taken)
		lwlib_debug_locked(m, site);
	return taken;
}

bool lw_mutex_timedlock(lw_mutex_t *m, const struct timespec *deadline)
{
	struct lkp_deadline until;

	deadline_at(&until, deadline);
	return lock_until(mutex_of(m), &until, CALLER);
}

bool lwlib_mutex_lock_for(lw_mutex_t *m, uint64_t ns)
{
	struct lkp_deadline until;

	deadline_after(&until, ns);
	return lock_until(mutex_of(m), &until, CALLER);
}

void lw_mutex_unlock(lw_mutex_t *m)
{
	if (unlikely(lwlib_debug))
		debug_unlock(mutex_of(m));
	else
		lk_mutex_unlock(mutex_of(m));
}

void lw_mutex_destroy(lw_mutex_t *m)
{
	if (unlikely(lwlib_debug))
		lwlib_debug_check_destroy(mutex_of(m));
}
