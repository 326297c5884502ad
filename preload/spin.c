// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_spin_*: a qspinlock in 4 bytes. A process-shared one keeps glibc's
 * format, and so does one that glibc's own code made: 1 free, 0 held, and as
 * many below 0 as other processes spin. Ours has bit 15 set (the tag); so have
 * glibc's first 32768 negative numbers, but with a tail (slot 16383, level 3)
 * that ours reaches only with 16383 threads and four nested locks.
 */
#include "preload.h"

#include "qspinlock.h"

static inline struct lk_qspin *ours(pthread_spinlock_t *s)
{
	_Static_assert(sizeof(struct lk_qspin) == sizeof(pthread_spinlock_t),
		       "size");
	return (struct lk_qspin *)s;
}

static inline bool is_glibcs(u32 val)
{
	return !(val & WAIT_TAG_MARK) || val >= 0xffff8000u;
}

static enum lk_qspin_mode mode(void)
{
	switch (lw_policy()) {
	case LW_POLICY_QSPIN_FAIR:
		return LK_QSPIN_FAIR;
	case LW_POLICY_QSPIN_TAS:
		return LK_QSPIN_TAS;
	default:
		return LK_QSPIN_STEAL;
	}
}

static bool try_glibcs(pthread_spinlock_t *s)
{
	return READ_ONCE(*(int *)s) == 1 && xchg_acquire((int *)s, 0) == 1;
}

EXPORT int pthread_spin_init(pthread_spinlock_t *s, int pshared)
{
	if (pshared == PTHREAD_PROCESS_SHARED)
		smp_store_release((int *)s, 1);
	else
		lk_qspin_init(ours(s));
	return 0;
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *s)
{
	(void)s;
	return 0;
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *s)
{
	bool taken;

	if (unlikely(is_glibcs(atomic_read(&ours(s)->val))))
		taken = try_glibcs(s);
	else
		taken = lk_qspin_trylock(ours(s));
	return taken ? 0 : EBUSY;
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *s)
{
	if (unlikely(is_glibcs(atomic_read(&ours(s)->val)))) {
		while (!try_glibcs(s))
			smp_cond_load_relaxed((int *)s, VAL == 1);
	} else if (unlikely(!lk_qspin_trylock(ours(s)))) {
		lk_qspin_lock_slow(ours(s), atomic_read(&ours(s)->val), mode());
	}
	return 0;
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *s)
{
	if (unlikely(is_glibcs(atomic_read(&ours(s)->val))))
		smp_store_release((int *)s, 1);
	else
		lk_qspin_unlock(ours(s));
	return 0;
}
