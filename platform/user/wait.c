// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Sleeping, yielding and the asymmetric fence, all with errno left alone. */
#include "internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

u32 lw_yield_after = 200;
u32 lw_spin_budget = 1000;
u32 lw_watch_owner = 1;
u32 lw_give_way_us = 1000;
u32 lw_overtake_limit = 64;
u32 lw_handover_spins = 20;
u32 lw_steal_rounds = 30;
u32 lw_brief_spins = 30;

long lw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long ret = syscall(nr, a, b, c, d, e, f);

	if (ret == -1)
		ret = -errno;
	errno = saved;
	return ret;
}

/* The kernel's mask bit of a signal. */
#define SIGNAL_BIT(sig) (1ull << ((sig)-1))

/* Not those that an instruction raises: blocked, they would kill the program. */
u64 lw_block_signals(void)
{
	u64 all = ~(SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSEGV) |
		    SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) |
		    SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGSYS));
	u64 before = 0;

	lw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
		   sizeof(all), 0, 0);
	return before;
}

void lw_restore_signals(u64 signals)
{
	lw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&signals, 0,
		   sizeof(signals), 0, 0);
}

__cold void lw_yield(void)
{
	lw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

__cold int lw_futex_wait(u32 *word, u32 val, const struct lw_deadline *deadline)
{
	struct timespec ts, *tp = NULL;
	int op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
	long ret;

	if (deadline) {
		/* The kernel refuses times before 1970: they are long past. */
		if (deadline->sec < 0)
			return -ETIMEDOUT;
		ts = (struct timespec){ deadline->sec, deadline->nsec };
		tp = &ts;
		if (deadline->clock == CLOCK_REALTIME)
			op |= FUTEX_CLOCK_REALTIME;
	}
	ret = lw_syscall(SYS_futex, (long)word, op, val, (long)tp, 0,
			 (long)FUTEX_BITSET_MATCH_ANY);
	return ret == -ETIMEDOUT ? -ETIMEDOUT : 0;
}

__cold int lw_futex_wake(u32 *word, int count)
{
	return lw_syscall(SYS_futex, (long)word,
			  FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, 0, 0, 0);
}

bool deadline_passed(const struct lw_deadline *deadline, int64_t sec,
		     int64_t nsec)
{
	return sec > deadline->sec ||
	       (sec == deadline->sec && nsec >= deadline->nsec);
}

u64 local_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

bool deadline_within(const struct lw_deadline *deadline, u64 ns)
{
	struct timespec now;
	int64_t sec, nsec;

	clock_gettime(deadline->clock, &now);
	sec = now.tv_sec + (int64_t)(ns / 1000000000u);
	nsec = now.tv_nsec + (int64_t)(ns % 1000000000u);
	return deadline_passed(deadline, sec + nsec / 1000000000,
			       nsec % 1000000000);
}

void deadline_after(struct lw_deadline *deadline, u64 ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	deadline->clock = CLOCK_MONOTONIC;
	deadline->sec = now.tv_sec + (int64_t)(ns / 1000000000u);
	deadline->nsec = now.tv_nsec + (int64_t)(ns % 1000000000u);
	if (deadline->nsec >= 1000000000) {
		deadline->nsec -= 1000000000;
		deadline->sec++;
	}
}

#if defined(LW_PRELOAD)
/* The first nap, and how often it doubles at most: 4 ms to 1 s. */
#define NAP_NS	    4000000ull
#define NAP_DOUBLES 8u

__cold int lw_futex_nap(u32 *word, u32 val, const struct lw_deadline *deadline,
			u32 naps)
{
	u64 ns = NAP_NS << (naps < NAP_DOUBLES ? naps : NAP_DOUBLES);
	struct lw_deadline nap;

	if (naps == NO_NAPS || (deadline && deadline_within(deadline, ns)))
		return lw_futex_wait(word, val, deadline);
	deadline_after(&nap, ns);
	lw_futex_wait(word, val, &nap);
	return 0;
}
#else
/* 1: every running thread of the process can be made to pass a full fence. */
u32 lw_membarrier;

static void nap_ms(void)
{
	struct timespec ms = { 0, 1000000 };

	lw_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&ms, 0, 0, 0);
}

static bool register_membarrier(void)
{
	return lw_syscall(SYS_membarrier,
			  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0,
			  0) == 0;
}

/* Early, so that unlocks need no fence of their own; right without it too. */
__attribute__((constructor)) static void init_membarrier(void)
{
	if (register_membarrier())
		WRITE_ONCE(lw_membarrier, 1);
}

__cold void lw_membarrier_all(void)
{
	smp_mb();
	if (!READ_ONCE(lw_membarrier))
		return; /* then smp_mb_light() is a full fence everywhere */
	while (lw_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0,
			  0, 0, 0, 0) != 0) {
		if (register_membarrier())
			continue;
		/*
		 * Forbidden since we started. Unlocks have a fence of their own
		 * from here on. One that has not seen that yet is either running,
		 * and its stores are out long before this nap is over, or it lost
		 * its CPU, which is a fence.
		 */
		WRITE_ONCE(lw_membarrier, 0);
		smp_mb();
		nap_ms();
		return;
	}
}
#endif
