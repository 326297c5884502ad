/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_PRELOAD_HOST_H
#define LKP_PRELOAD_HOST_H

/*
 * The interposer's host of the user world. POSIX lets the next holder free a lock
 * at once, and glibc's own code may be among the waiters of a lock word. Its unlock
 * is an RMW then, and needs no asymmetric fence. Included by thread.h.
 */
#define LK_MUTEX_EMBED		u32 embed[4]; /* glibc: count, owner, nusers, kind */
#define mutex_outlives_unlock() false
#define spin_outlives_unlock()	false
#define waiters_halt()		false
#define foreign_waiters()	true
/*
 * glibc's own code names the owner. So does ours, but only of the kinds where somebody may
 * ask; of those this is true whenever they are held.
 */
#define foreign_unlocks(m) \
	(READ_ONCE(lkp_foreign_unlocks) || READ_ONCE((m)->embed[1]))
/* glibc's own code has unlocked a mutex of ours, or is about to. */
extern u32 lkp_foreign_unlocks;
#define sleeps_are_naps() true
#define smp_mb_light()	  smp_mb()
#define smp_mb_heavy()	  smp_mb()
#define WAIT_TAG_MARK	  0x8000u

#endif
