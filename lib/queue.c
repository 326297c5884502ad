// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The process's queue of spinners: set by the program, or an OSQ by the first wait. */
#include "queue.h"

#include "once.h"

#include <errno.h>

/* 1 more than the enum lw_queue; 0: not decided, nobody has waited. */
static u32 decided;

int lw_set_queue(enum lw_queue queue)
{
	u32 wanted = (u32)queue + 1;

	if (queue != LW_QUEUE_OSQ && queue != LW_QUEUE_NUMA_OSQ)
		return EINVAL;
	return lkp_decide(&decided, wanted) == wanted ? 0 : EBUSY;
}

bool lwlib_spin_in_numa_osq(void)
{
	u32 queue = READ_ONCE(decided);

	if (unlikely(!queue))
		queue = lkp_decide(&decided, LW_QUEUE_OSQ + 1);
	return queue == LW_QUEUE_NUMA_OSQ + 1;
}
