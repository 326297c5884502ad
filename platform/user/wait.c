// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* System calls: sleeping, yielding, the clock, all with errno left alone. */
#include "events.h"
#include "internal.h"
#include "syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

long lkp_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	return host_syscall(nr, a, b, c, d, e, f);
}

/* The kernel's mask bit of a signal. */
#define SIGNAL_BIT(sig) (1ull << ((sig)-1))

/* Not those that an instruction raises: blocked, they would kill the program. */
u64 lkp_block_signals(void)
{
	u64 all = ~(SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSEGV) |
		    SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) |
		    SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGSYS));
	u64 before = 0;

	lkp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
		    sizeof(all), 0, 0);
	return before;
}

void lkp_restore_signals(u64 signals)
{
	lkp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&signals, 0,
		    sizeof(signals), 0, 0);
}

/* A thread goes by what it knows of its priority for so long, then it asks again. */
#define ASK_AGAIN_NS 1000000u

/*
 * 0, or the real-time priority of the calling thread, 1 to 99; 100: SCHED_DEADLINE,
 * which comes before all.
 */
static u32 ask_priority(void)
{
	long policy = lkp_syscall(SYS_sched_getscheduler, 0, 0, 0, 0, 0, 0);
	int priority = 0;

	policy &= ~SCHED_RESET_ON_FORK;
	if (policy == SCHED_DEADLINE)
		return 100;
	if (policy != SCHED_FIFO && policy != SCHED_RR)
		return 0;
	/* struct sched_param has this one field. */
	lkp_syscall(SYS_sched_getparam, 0, (long)&priority, 0, 0, 0, 0);
	return (u32)priority;
}

/*
 * Others may change it at any time. To ask each time would cost too much, and to ask
 * after so many uses is too late: under SCHED_DEADLINE each use may be a yield that
 * takes a period.
 */
__cold u32 lkp_priority(void)
{
	u64 now = local_clock(), asked = lkp_self.priority_asked;

	if (!asked || now - asked >= ASK_AGAIN_NS) {
		lkp_self.priority = ask_priority();
		lkp_self.priority_asked = now;
	}
	return lkp_self.priority;
}

__cold void lkp_yield(void)
{
	lkp_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/*
 * How long a real-time thread sleeps for the one that it waits for. A yield of its
 * would let nobody of lower priority run; under SCHED_DEADLINE it gives up the CPU
 * until the next period.
 */
#define REALTIME_NAP_NS 50000

__cold void lkp_let_run(void)
{
	static const struct timespec nap = { .tv_nsec = REALTIME_NAP_NS };

	if (lkp_priority())
		lkp_syscall(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
	else
		lkp_yield();
}

/* So many times stall_us are too long whatever the looks before found. */
#define PATIENCE 16

__cold bool lkp_stalls(struct lkp_stall *stall, bool is_free)
{
	u64 limit = READ_ONCE(lkp_stall_us) * (u64)1000, now;

	if (!limit)
		return false;
	now = local_clock();
	if (!stall->began)
		stall->began = now;
	if (!is_free) {
		stall->free_since = 0;
		return false;
	}
	if (!stall->free_since)
		stall->free_since = now;
	return now - stall->free_since >= limit ||
	       now - stall->began >= PATIENCE * limit;
}

__cold void lkp_give_way(void)
{
	if (!ask_priority())
		lkp_yield();
}

/* One in so many calls looks at the clock, which costs as much as a short section. */
#define LOOK_EACH 8u
/* A yield that took so long let another thread run: 50 us. */
#define RAN_NS 50000u

__cold bool lkp_turn_is_over(void)
{
	u64 ns = READ_ONCE(lkp_turn_us) * (u64)1000, now;
	u64 began = lkp_self.turn_began;

	if (!ns || ++lkp_self.turn_asked % LOOK_EACH)
		return false;
	now = local_clock();
	if (began && now - began < ns)
		return false;
	lkp_self.turn_began = now;
	return began != 0;
}

/*
 * Yields to a thread that waits for this CPU. False: there was none. If this thread slept
 * then, its CPU would be idle, because the woken thread may wait for another one.
 */
__cold bool lkp_end_turn(void)
{
	u64 began;

	if (lkp_priority())
		return false;
	began = local_clock();
	lkp_yield();
	return local_clock() - began > RAN_NS;
}

/*
 * Counts a sleep that ended with @ret. One that a wake-up ended, and that another sleep of
 * the same wait follows, had been woken for nothing. Where the word had changed, there was
 * no sleep.
 */
static void note_sleep(long ret)
{
	bool in_vain = lkp_self.goes_on && lkp_self.woken;

	lkp_self.turn_began = 0;
	lkp_self.woken = ret == 0;
	if (ret == -EAGAIN)
		return;
	count_event(LK_EV_slept);
	if (in_vain)
		count_event(LK_EV_slept_again);
}

__cold int lkp_futex_wait(u32 *word, u32 val,
			  const struct lkp_deadline *deadline)
{
	struct timespec ts, *tp = NULL;
	int op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
	int type = PTHREAD_CANCEL_DEFERRED;
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
	if (lkp_self.cancel_in)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	ret = lkp_syscall(SYS_futex, (long)word, op, val, (long)tp, 0,
			  (long)FUTEX_BITSET_MATCH_ANY);
	if (lkp_self.cancel_in)
		pthread_setcanceltype(type, &type);
	note_sleep(ret);
	return ret == -ETIMEDOUT ? -ETIMEDOUT : 0;
}

__cold int lkp_futex_wake(u32 *word, int count)
{
	int woken = (int)lkp_syscall(SYS_futex, (long)word,
				     FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, 0,
				     0, 0);

	count_event(woken > 0 ? LK_EV_woke : LK_EV_woke_nobody);
	return woken;
}

/* Whether the time @sec, @nsec on its clock is at or past it. */
static bool deadline_passed(const struct lkp_deadline *deadline, int64_t sec,
			    int64_t nsec)
{
	return sec > deadline->sec ||
	       (sec == deadline->sec && nsec >= deadline->nsec);
}

u64 lkp_local_clock(void)
{
	struct timespec now = lkp_clock(CLOCK_MONOTONIC);

	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

bool lkp_deadline_within(const struct lkp_deadline *deadline, u64 ns)
{
	struct timespec now = lkp_clock(deadline->clock);
	int64_t sec, nsec;

	sec = now.tv_sec + (int64_t)(ns / 1000000000u);
	nsec = now.tv_nsec + (int64_t)(ns % 1000000000u);
	return deadline_passed(deadline, sec + nsec / 1000000000,
			       nsec % 1000000000);
}

void lkp_deadline_after(struct lkp_deadline *deadline, u64 ns)
{
	struct timespec now = lkp_clock(CLOCK_MONOTONIC);

	deadline->clock = CLOCK_MONOTONIC;
	deadline->sec = now.tv_sec + (int64_t)(ns / 1000000000u);
	deadline->nsec = now.tv_nsec + (int64_t)(ns % 1000000000u);
	if (deadline->nsec >= 1000000000) {
		deadline->nsec -= 1000000000;
		deadline->sec++;
	}
}
