/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_USER_INTERNAL_H
#define LKP_USER_INTERNAL_H

/* Shared by the files of the user world only. */
#include <platform.h>

#include <time.h>

/* A system call that leaves errno alone. Returns its result or -errno. */
long lkp_syscall(long nr, long a, long b, long c, long d, long e, long f);
/* The time of the kernel's @clock, whatever clock_gettime() the program has. */
struct timespec lkp_clock(clockid_t clock);
/* Holds signals back for this thread; restore takes what block returned. */
u64 lkp_block_signals(void);
void lkp_restore_signals(u64 signals);
/* The kernel's id of this thread, right after a fork too. */
u32 lkp_tid(void);

/* Knob `clusters` was set. */
void lkp_clusters_changed(void);

extern u32 lkp_slot_limit, lkp_auto_cpus, lkp_clusters;

#endif
