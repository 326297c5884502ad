// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The asymmetric fence: smp_mb_light(), smp_mb_heavy(). */
#include "internal.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* 1: every running thread of the process can be made to pass a full fence. */
u32 lkp_membarrier;

static void nap_ms(void)
{
	struct timespec ms = { 0, 1000000 };

	lkp_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&ms, 0, 0,
		    0);
}

static bool register_membarrier(void)
{
	return lkp_syscall(SYS_membarrier,
			   MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0,
			   0, 0) == 0;
}

/* Early, so that unlocks need no fence of their own; right without it too. */
__attribute__((constructor)) static void init_membarrier(void)
{
	if (register_membarrier())
		WRITE_ONCE(lkp_membarrier, 1);
}

__cold void lkp_membarrier_all(void)
{
	/* [membarrier.A] MB, pairs with host.A: the heavy fence where there is no
	 * membarrier(2). Where there is, the system call is one. */
	smp_mb();
	if (!READ_ONCE(lkp_membarrier))
		return; /* then smp_mb_light() is a full fence everywhere */
	while (lkp_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0,
			   0, 0, 0, 0) != 0) {
		if (register_membarrier())
			continue;
		/*
		 * Forbidden since we started. Unlocks have a fence of their own
		 * from here on. One that has not seen that yet is either running,
		 * and its stores are out long before this nap is over, or it lost
		 * its CPU, which is a fence.
		 */
		WRITE_ONCE(lkp_membarrier, 0);
		/* [membarrier.B] MB, pairs with host.A. */
		smp_mb();
		nap_ms();
		return;
	}
}
