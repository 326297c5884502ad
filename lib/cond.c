// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* lw_cond_t: a struct lk_cond, with the mutex unlocked and locked as users do. */
#include "lib.h"

#include "cond.h"
#include "debug.h"

_Static_assert(sizeof(lw_cond_t) == sizeof(struct lk_cond), "size");
_Static_assert(_Alignof(lw_cond_t) == _Alignof(struct lk_cond), "alignment");

static struct lk_cond *cond_of(lw_cond_t *c)
{
	return (struct lk_cond *)c;
}

/*
 * In steps, because LOCKWORK_DEBUG watches each lock and unlock. There a waiter
 * is not moved to the mutex's list: it locks the mutex by itself.
 */
static bool cond_wait(lw_cond_t *c, lw_mutex_t *m,
		      const struct lkp_deadline *deadline)
{
	struct lk_mutex *mutex = lwlib_debug ? NULL : (struct lk_mutex *)m;
	struct lk_cond_waiter w;
	bool signalled;

	lk_cond_enqueue(cond_of(c), &w, mutex, false);
	lw_mutex_unlock(m);
	signalled = !lk_cond_sleep(&w, deadline) || !lk_cond_leave(&w);
	if (!signalled || !lk_cond_relock(&w))
		lw_mutex_lock(m);
	lk_cond_done(&w);
	return signalled;
}

void lw_cond_wait(lw_cond_t *c, lw_mutex_t *m)
{
	(void)cond_wait(c, m, NULL);
}

bool lw_cond_timedwait(lw_cond_t *c, lw_mutex_t *m,
		       const struct timespec *deadline)
{
	struct lkp_deadline until;

	deadline_at(&until, deadline);
	return cond_wait(c, m, &until);
}

bool lwlib_cond_wait_for(lw_cond_t *c, lw_mutex_t *m, uint64_t ns)
{
	struct lkp_deadline until;

	deadline_after(&until, ns);
	return cond_wait(c, m, &until);
}

void lw_cond_signal(lw_cond_t *c)
{
	lk_cond_signal(cond_of(c));
}

void lw_cond_broadcast(lw_cond_t *c)
{
	lk_cond_broadcast(cond_of(c));
}
