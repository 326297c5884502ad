// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the locks count, in the kernel's own lock events. */
#include <linux/build_bug.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/percpu.h>

#include <platform.h>

#include "../lock_events.h"
#include "events.h"

DEFINE_STATIC_KEY_FALSE(lkp_counting);

#ifdef CONFIG_LOCK_EVENT_COUNTS
#define FIRST LOCKEVENT_numa_opened

#define SAME_PLACE(name, help)                                  \
	static_assert(LOCKEVENT_##name - FIRST == LK_EV_##name, \
		      "lock_events_list.h has another order");
LK_QUEUE_EVENT_LIST(SAME_PLACE)

void lkp_count_event(u32 event)
{
	__lockevent_inc(FIRST + event, true);
}

static int __init counting_init(void)
{
	static_branch_enable(&lkp_counting);
	return 0;
}
early_initcall(counting_init);
#else
void lkp_count_event(u32 event)
{
}
#endif
