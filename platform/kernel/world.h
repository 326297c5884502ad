/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_KERNEL_WORLD_H
#define LKP_KERNEL_WORLD_H

/* What those who put the locks to use ask of this world. */
#include <linux/types.h>

struct lk_knob;

/*
 * Which last cache @cpu has: CPUs that share one have the same number, below
 * LKM_NO_CACHE. On @cpu itself. LKM_NO_CACHE: that is not known.
 */
u32 lkm_last_cache(u32 cpu);
#define LKM_NO_CACHE 0x80000000u

/* Learns which CPUs are a cluster, as they come. 0 or -errno. */
int lkp_world_start(void);
void lkp_world_stop(void);

/* 0, or -ERANGE: out of its limits, and nothing changed. */
int lkp_set_knob(const struct lk_knob *knob, u32 value);

#endif
