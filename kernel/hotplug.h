/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_KERNEL_HOTPLUG_H
#define LW_KERNEL_HOTPLUG_H

/* A thread that takes CPUs off and brings them on again, one at a time. */
#include <linux/types.h>

struct task_struct;

struct lw_hotplug {
	struct task_struct *task; /* NULL: off */
	u32 period_ms;
	u64 offs, ons;
	u64 refused; /* the kernel did not want to; not a fault of a lock */
};

/* 0, or what the kernel says to a new thread. */
int lw_hotplug_start(struct lw_hotplug *hotplug, u32 period_ms);
/* Each CPU that it took off is on again then, unless the kernel refuses: it says so. */
void lw_hotplug_stop(struct lw_hotplug *hotplug);

#endif
