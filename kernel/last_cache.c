// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Which last cache a CPU has. The kernel knows it (cpu_llc_id), and Linux 6.1 does not
 * export that, so CPUID is asked: Intel's Software Developer's Manual, volume 2, leaf 4;
 * AMD's Architecture Programmer's Manual, volume 3, leaf 8000001D. Both have the same
 * fields here.
 */
#include <linux/log2.h>
#include <linux/smp.h>

#include <platform.h>

#include "world.h"

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

/* The first APIC number of those that share it, which are aligned. */
u32 lkm_last_cache(u32 cpu)
{
	u32 shared = last_cache_shared();

	if (!shared)
		return LKM_NO_CACHE;
	return cpu_physical_id(cpu) & ~((u32)roundup_pow_of_two(shared) - 1);
}
#else
u32 lkm_last_cache(u32 cpu)
{
	return LKM_NO_CACHE;
}
#endif
