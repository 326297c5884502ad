/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_KERNEL_MODULE_WORLD_H
#define LKP_KERNEL_MODULE_WORLD_H

/* What only the module asks of this world. */
#include <linux/types.h>

/*
 * The files in /proc; proc.c says which. @count_divided: how many numa_osq are divided
 * now. 0 or -ENOMEM.
 */
int lkp_proc_start(u32 (*count_divided)(void));
void lkp_proc_stop(void);

/* How often the event numbered @event was counted, on all CPUs. */
u64 lkp_event_sum(u32 event);
/* All of them from 0. What is counted meanwhile may be lost. */
void lkp_events_reset(void);

#endif
