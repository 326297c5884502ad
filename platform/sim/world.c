// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the simulator sets; platform.h says who calls it. */
#include "numa_pool.h"

struct lws_calls lws;

/* Locks that are divided now. Not by primitives: no time passes. */
u32 lws_divided(void);

u32 lws_divided(void)
{
	u32 i, n = 0;

	for (i = 0; i < NUMA_ENTRIES; i++)
		n += numa_pool[i].taken != 0;
	return n;
}
