// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What wakes those that wait for a condition variable. */
#include "probes.h"
#include "take_back.h"

#include "c11.h"

/* A signal or a broadcast, and how many are seen to wait for it. */
static void woke(pthread_cond_t *c, void *site, u32 kind)
{
	struct rec_thread *t = rec_thread();
	u64 waiters;

	if (unlikely(!t))
		return;
	if (kind == REC_BROADCAST)
		rec_back_broadcast(c);
	waiters = rec_waiters(c, t->number);
	rec_cond_woke(t, rec_site(t, c, site, kind), waiters);
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	PRE_USDT(cond_signal, c);
	woke(c, CALLER, REC_SIGNAL);
	return PASS(pthread_cond_signal)(c);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	PRE_USDT(cond_broadcast, c);
	woke(c, CALLER, REC_BROADCAST);
	return PASS(pthread_cond_broadcast)(c);
}

EXPORT int cnd_signal(cnd_t *c)
{
	PRE_USDT(cond_signal, c);
	woke((pthread_cond_t *)c, CALLER, REC_SIGNAL);
	return lkp_thrd_result(PASS(pthread_cond_signal)((pthread_cond_t *)c));
}

EXPORT int cnd_broadcast(cnd_t *c)
{
	PRE_USDT(cond_broadcast, c);
	woke((pthread_cond_t *)c, CALLER, REC_BROADCAST);
	return lkp_thrd_result(
		PASS(pthread_cond_broadcast)((pthread_cond_t *)c));
}
