// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* pthread_spin_* */
#include "calls.h"

EXPORT int pthread_spin_lock(pthread_spinlock_t *s)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_spin_lock)(s);
	return REC_LOCK(t, (void *)s, REC_SPIN, LOCKER,
			NEXT(pthread_spin_trylock)(s), pthread_spin_lock);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *s)
{
	struct rec_thread *t = rec_thread();

	if (unlikely(!t))
		return PASS(pthread_spin_trylock)(s);
	return REC_TRY(t, (void *)s, REC_SPIN, LOCKER,
		       NEXT(pthread_spin_trylock)(s));
}

REC_UNLOCK_SLOW(pthread_spin_unlock, pthread_spinlock_t)

EXPORT int pthread_spin_unlock(pthread_spinlock_t *s)
{
	if (unlikely(!rec_release(rec_mine, (void *)s)))
		return unlock_slow(s);
	return NEXT(pthread_spin_unlock)(s);
}
