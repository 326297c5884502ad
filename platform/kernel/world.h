/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_KERNEL_WORLD_H
#define LW_KERNEL_WORLD_H

/* For the module: learns which CPUs are a cluster, as they come. 0 or -errno. */
int lw_world_start(void);
void lw_world_stop(void);

#endif
