// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Condition variable over lw_mutex_t: 8 bytes.
 *
 *   signals  counts signals and broadcasts; waiters sleep on it
 *   waiters  threads between their entry and their wake-up; may be stale high,
 *            after a fork: costs a system call; never stale low when it counts
 *
 * No wake-up is lost. A waiter counts itself and reads `signals` while it holds
 * the mutex; a signaller has changed what is waited for under the mutex, so
 * either the waiter saw that change, or the signaller comes after the waiter's
 * unlock and sees it counted. It then raises `signals` before it wakes: the
 * kernel compares and queues as one step, so the waiter either does not fall
 * asleep or is found. The mutex gives all the order that this needs.
 *
 * A waiter that is stopped between its unlock and its sleep while exactly 2^32
 * signals are given would not see them. Source: the futex(2) manual page.
 */
#include "lib.h"

#include <limits.h>

static u32 *signals_of(lw_cond_t *c)
{
	return &c->opaque_[0];
}

static u32 *waiters_of(lw_cond_t *c)
{
	return &c->opaque_[1];
}

static bool cond_wait(lw_cond_t *c, lw_mutex_t *m,
		      const struct lw_deadline *deadline)
{
	u32 *signals = signals_of(c), *waiters = waiters_of(c), seen;
	int err;

	__atomic_fetch_add(waiters, 1, __ATOMIC_RELAXED);
	seen = READ_ONCE(*signals);
	lw_mutex_unlock(m);
	err = lw_futex_wait(signals, seen, deadline);
	__atomic_fetch_sub(waiters, 1, __ATOMIC_RELAXED);
	lw_mutex_lock(m);
	return !err;
}

static void cond_wake(lw_cond_t *c, int count)
{
	if (!READ_ONCE(*waiters_of(c)))
		return;
	__atomic_fetch_add(signals_of(c), 1, __ATOMIC_RELAXED);
	lw_futex_wake(signals_of(c), count);
}

void lw_cond_wait(lw_cond_t *c, lw_mutex_t *m)
{
	(void)cond_wait(c, m, NULL);
}

bool lw_cond_timedwait(lw_cond_t *c, lw_mutex_t *m,
		       const struct timespec *deadline)
{
	struct lw_deadline until;

	deadline_at(&until, deadline);
	return cond_wait(c, m, &until);
}

bool lw_cond_wait_for(lw_cond_t *c, lw_mutex_t *m, uint64_t ns)
{
	struct lw_deadline until;

	deadline_after(&until, ns);
	return cond_wait(c, m, &until);
}

void lw_cond_signal(lw_cond_t *c)
{
	cond_wake(c, 1);
}

void lw_cond_broadcast(lw_cond_t *c)
{
	cond_wake(c, INT_MAX);
}
