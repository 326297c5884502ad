// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The controls in /proc/lockwork/, which proc.c describes. */
#include <linux/init.h>
#include <linux/kernel.h>

#include "numa_osq.h"
#include "world.h"

static int __init controls_init(void)
{
	return lkp_proc_start(lk_numa_osq_divided);
}
fs_initcall(controls_init);
