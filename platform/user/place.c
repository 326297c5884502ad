// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Where we run, for a spinlock in mode auto: are there more threads than CPUs,
 * and may a CPU of ours be taken away without our knowing? Asked in slow paths
 * only. A wrong answer costs speed, nothing else.
 */
#include "internal.h"
#include "user.h"

#include <sys/syscall.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Answers of one thread between two looks at which CPUs there are. */
#define LOOK_EVERY 1024u
/* Answers for which a preempted thread that was seen counts. */
#define REMEMBER 1000u

/* 1: the CPU says that it is a virtual one. */
u32 lkp_hypervisor;
/* CPUs that the process may run on; 0: not looked yet. */
static u32 cpus;
/* Answers that a preempted thread still counts for. */
static u32 preempted;

__attribute__((constructor)) static void find_hypervisor(void)
{
#if defined(__x86_64__)
	u32 eax, ebx, ecx = 0, edx;

	/* Leaf 1, ECX bit 31: 0 on real CPUs, set by hypervisors. */
	if (__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		lkp_hypervisor = ecx >> 31;
#endif
}

/* The affinity mask's CPUs. What a cgroup's quota leaves of them is not seen. */
static u32 count_cpus(void)
{
	u64 mask[128]; /* 8192 CPUs */
	long bytes = lkp_syscall(SYS_sched_getaffinity, 0, sizeof(mask),
				 (long)mask, 0, 0, 0);
	u32 n = 0;

	for (long i = 0; i < bytes / (long)sizeof(mask[0]); i++)
		n += (u32)__builtin_popcountll(mask[i]);
	return n ? n : 1;
}

__cold bool lkp_cpus_are_short(void)
{
	u32 have = READ_ONCE(lkp_auto_cpus), left = READ_ONCE(preempted);

	if (left) {
		WRITE_ONCE(preempted, left - 1);
		return true;
	}
	if (!have) {
		if (lkp_self.asked++ % LOOK_EVERY == 0)
			WRITE_ONCE(cpus, count_cpus());
		have = READ_ONCE(cpus);
	}
	return lkp_user_slots_in_use() > have;
}

/* A waiter found that the thread before it has lost its CPU. */
__cold void lkp_saw_preempted(void)
{
	if (READ_ONCE(preempted) < REMEMBER)
		WRITE_ONCE(preempted, REMEMBER);
}
