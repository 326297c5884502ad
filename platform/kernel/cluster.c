// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Clusters of CPUs: those that share their last cache, or a NUMA node where the
 * CPU does not say. The kernel knows the former (cpu_llc_id, say). But this file is
 * also part of a module, which tortures the locks, and Linux 6.1 does not export its
 * maps. So each CPU is asked as it comes online.
 *
 * What CPUID says: Intel's Software Developer's Manual, volume 2, leaf 4; AMD's
 * Architecture Programmer's Manual, volume 3, leaf 8000001D. Both have the same
 * fields here.
 */
#include <linux/cpuhotplug.h>
#include <linux/log2.h>
#include <linux/topology.h>

#include <platform.h>

#include "world.h"

/* A CPU that was not asked is in the first one. */
DEFINE_PER_CPU(u16, lkp_cluster);
u32 lkp_cluster_total __read_mostly = 1;

/* Each cluster's key; callbacks of CPUs that come online are never two at once. */
static u32 keys[NR_CPUS];
static u32 key_count;

#define BY_NODE 0x80000000u

#ifdef CONFIG_X86
/* How many APIC numbers share the last cache of this CPU; 0: it does not say. */
static u32 last_cache_shared(void)
{
	u32 leaf = boot_cpu_has(X86_FEATURE_TOPOEXT) ? 0x8000001d : 4;
	u32 eax, ebx, ecx, edx, i, level = 0, shared = 0;

	if (boot_cpu_data.cpuid_level < 4)
		return 0;
	for (i = 0; i < 16; i++) {
		cpuid_count(leaf, i, &eax, &ebx, &ecx, &edx);
		if (!(eax & 0x1f)) /* no more caches */
			break;
		if ((eax >> 5 & 7) > level) {
			level = eax >> 5 & 7;
			shared = (eax >> 14 & 0xfff) + 1;
		}
	}
	return shared;
}

/* The first APIC number of those, which are aligned; on @cpu itself. */
static u32 key_of(u32 cpu)
{
	u32 shared = last_cache_shared();

	if (!shared)
		return BY_NODE | (u32)cpu_to_node(cpu);
	return cpu_physical_id(cpu) & ~((u32)roundup_pow_of_two(shared) - 1);
}
#else
static u32 key_of(u32 cpu)
{
	return BY_NODE | (u32)cpu_to_node(cpu);
}
#endif

/* On @cpu, before tasks run there. */
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
