// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What is set and asked for the whole process. */
#include "lib.h"
#include "numa_osq.h"
#include "user.h"

#include <errno.h>
#include <string.h>

int lw_set_knob(const char *name, const char *value)
{
	return -lkp_user_knob_set(name, value);
}

const char *lw_set_clusters(const char *map)
{
	return lkp_user_set_clusters(map);
}

uint32_t lw_cluster_count(void)
{
	return lkp_user_cluster_count();
}

uint32_t lw_numa_divided(void)
{
	return lk_numa_osq_divided();
}

const char *lw_event_name(uint32_t n)
{
	return lkp_user_event_name(n);
}

const char *lw_event_help(uint32_t n)
{
	return lkp_user_event_help(n);
}

int lw_event_sum(const char *name, uint64_t *sum)
{
	const char *known;

	for (u32 n = 0; (known = lkp_user_event_name(n)); n++) {
		if (!strcmp(known, name)) {
			*sum = lkp_user_event_sum(n);
			return 0;
		}
	}
	return ENOENT;
}

void lw_events_reset(void)
{
	lkp_user_events_reset();
}
