/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_KERNEL_WORLD_H
#define LKP_KERNEL_WORLD_H

/* What the module, or a patched kernel, asks of this world. */
#include <linux/types.h>

struct lk_knob;

/* Learns which CPUs are a cluster, as they come. 0 or -errno. */
int lkp_world_start(void);
void lkp_world_stop(void);

/* 0, or -ERANGE: out of its limits, and nothing changed. */
int lkp_set_knob(const struct lk_knob *knob, u32 value);

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
