/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_LIBRARY_HOST_H
#define LKP_LIBRARY_HOST_H

/*
 * The library's and the lab's host of the user world: a lock outlives its unlock,
 * and nobody else's code waits on a lock word. Included by thread.h.
 */
#define LK_MUTEX_EMBED
#define mutex_outlives_unlock() true
#define spin_outlives_unlock()	true
#define waiters_halt()		true
#define foreign_waiters()	false
#define foreign_unlocks(m)	((void)(m), false)
extern u32 lkp_naps;
#define sleeps_are_naps() READ_ONCE(lkp_naps)
#define WAIT_TAG_MARK	  0u
extern u32 lkp_membarrier;
void lkp_membarrier_all(void);
#define smp_mb_heavy() lkp_membarrier_all()
/* Orders like smp_mb(), but only against smp_mb_heavy(). */
static inline void smp_mb_light(void)
{
	if (likely(READ_ONCE(lkp_membarrier)))
		barrier();
	else
		/* [host.A] MB, pairs with membarrier.A and .B. */
		smp_mb();
}

#endif
