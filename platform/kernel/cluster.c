// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Clusters of CPUs: those that share their last cache, or a NUMA node where it is not
 * known which do. Each CPU is asked as it comes online.
 */
#include <linux/cpuhotplug.h>
#include <linux/topology.h>

#include <platform.h>

#include "world.h"

/* A CPU that was not asked is in the first one. */
DEFINE_PER_CPU(u16, lkp_cluster);
u32 lkp_cluster_total __read_mostly = 1;

/* Each cluster's key; callbacks of CPUs that come online are never two at once. */
static u32 keys[NR_CPUS];
static u32 key_count;

/* A node's number, above those of caches. */
static u32 key_of(u32 cpu)
{
	u32 cache = lkm_last_cache(cpu);

	return cache == LKM_NO_CACHE ? LKM_NO_CACHE + (u32)cpu_to_node(cpu)
				     : cache;
}

/* On @cpu, as it comes online. */
static int cpu_online_here(unsigned int cpu)
{
	u32 key = key_of(cpu), n;

	for (n = 0; n < key_count && keys[n] != key; n++)
		;
	if (n == key_count) {
		if (n == NR_CPUS)
			return 0; /* CPUs changed what they share: the first */
		keys[key_count++] = key;
		WRITE_ONCE(lkp_cluster_total, key_count);
	}
	this_cpu_write(lkp_cluster, (u16)n);
	return 0;
}

static int state;

int lkp_world_start(void)
{
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "lockwork:online",
				  cpu_online_here, NULL);
	return state < 0 ? state : 0;
}

void lkp_world_stop(void)
{
	cpuhp_remove_state(state);
}
