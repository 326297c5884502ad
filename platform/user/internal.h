/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_USER_INTERNAL_H
#define LW_USER_INTERNAL_H

/* Shared by the files of the user world only. */
#include <platform.h>

/* A system call that leaves errno alone. Returns its result or -errno. */
long lw_syscall(long nr, long a, long b, long c, long d, long e, long f);
/* Holds signals back for this thread; restore takes what block returned. */
u64 lw_block_signals(void);
void lw_restore_signals(u64 signals);
/* The kernel's id of this thread, right after a fork too. */
u32 lw_tid(void);

/* Knob `clusters` was set. */
void lw_clusters_changed(void);

extern u32 lw_slot_limit, lw_auto_cpus, lw_clusters;

#endif
