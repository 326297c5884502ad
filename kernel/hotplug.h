/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKM_HOTPLUG_H
#define LKM_HOTPLUG_H

/* A thread that takes CPUs off and brings them on again, one at a time. */
#include <linux/types.h>

struct task_struct;

struct lkm_hotplug {
	struct task_struct *task; /* NULL: off */
	u32 period_ms;
	u64 offs, ons;
	u64 refused; /* the kernel did not want to; not a fault of a lock */
};

/* 0, or what the kernel says to a new thread. */
int lkm_hotplug_start(struct lkm_hotplug *hotplug, u32 period_ms);
/* Each CPU that it took off is on again then, unless the kernel refuses: it says so. */
void lkm_hotplug_stop(struct lkm_hotplug *hotplug);

#endif
