// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A signal handler that locks, at each instruction of a lock call until that waits in the
 * queue. The CPU's trap flag calls the handler, so the place does not depend on luck. In each
 * round another thread is stopped at the head of the handler's lock, which is free. So the
 * handler's waiter leaves that queue, and its node stays there.
 */
#define _GNU_SOURCE
#include "qspinlock.h"

#include "../lib/expect.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG 0x100
/* So many instructions of the wait itself are enough. */
#define IN_QUEUE 20
/* More instructions than there are before it. */
#define MOST 100000

static struct lk_qspin own, handlers;
static u32 stopped, may_go_on, handled, over, queued;
static volatile int left; /* instructions until the handler */

static void wait_for(u32 *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		usleep(10);
}

static void set(u32 *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

/* -- the handler --------------------------------------------------------- */

static void at_instruction(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	u16 tail = handlers.tail;

	(void)signal;
	(void)info;
	if (!over && --left)
		return;
	at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (over)
		return;
	queued = READ_ONCE(own.tail);
	lk_qspin_lock(&handlers,
		      LK_QSPIN_FAIR); /* one that steals would not queue */
	EXPECT(handlers.tail != tail);
	lk_qspin_unlock(&handlers);
	set(&handled);
}

/* The red zone is left alone. */
static inline void trap_from_here(void)
{
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "orq $0x100, (%%rsp)\n\t"
			 "popfq\n\t"
			 "leaq 128(%%rsp), %%rsp"
			 :
			 :
			 : "memory", "cc");
}

/* -- the other threads --------------------------------------------------- */

static void stop(int signal)
{
	(void)signal;
	set(&stopped);
	wait_for(&may_go_on);
}

static void *stopped_waiter(void *arg)
{
	(void)arg;
	lk_qspin_lock(&handlers, LK_QSPIN_STEAL);
	lk_qspin_unlock(&handlers);
	return NULL;
}

static void *holder(void *arg)
{
	u32 *holds = arg;

	lk_qspin_lock(&own, LK_QSPIN_STEAL);
	set(holds);
	wait_for(&handled);
	lk_qspin_unlock(&own);
	return NULL;
}

static pthread_t start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, body, arg));
	return thread;
}

/* True: the handler ran when the lock call was in its queue. */
static bool handler_after(int instructions)
{
	pthread_t waiter, other;
	u32 holds = 0;

	stopped = may_go_on = handled = over = queued = 0;
	lk_qspin_lock(&handlers, LK_QSPIN_STEAL);
	waiter = start(stopped_waiter, NULL);
	while (!READ_ONCE(handlers.tail))
		usleep(10);
	pthread_kill(waiter, SIGUSR1);
	wait_for(&stopped);
	lk_qspin_unlock(&handlers);
	other = start(holder, &holds);
	wait_for(&holds);

	left = instructions;
	trap_from_here();
	lk_qspin_lock(&own, LK_QSPIN_STEAL);
	over = 1;
	lk_qspin_unlock(&own);
	set(&may_go_on);
	pthread_join(waiter, NULL);
	pthread_join(other, NULL);
	return queued;
}

static void catch (int signal, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO };

	EXPECT(!sigaction(signal, &action, NULL));
}

static void stop_at(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	stop(signal);
}

int main(void)
{
	int at, in_queue = 0;

	lk_qspin_init(&own);
	lk_qspin_init(&handlers);
	EXPECT(!lw_set_knob("stall_us", "1"));
	EXPECT(!lw_set_knob("yield_after", "1"));
	EXPECT(!lw_set_knob("steal_rounds", "0"));
	catch (SIGTRAP, at_instruction);
	catch (SIGUSR1, stop_at);
	for (at = 1; in_queue < IN_QUEUE && at < MOST; at++) {
		in_queue += handler_after(at);
		EXPECT(lk_qspin_trylock(&own, LK_QSPIN_ONLY_FAIR));
		lk_qspin_unlock(&own);
		EXPECT(lk_qspin_trylock(&handlers, LK_QSPIN_ONLY_FAIR));
		lk_qspin_unlock(&handlers);
	}
	EXPECT(in_queue == IN_QUEUE);
	printf("a handler at each of %d instructions\n", at - 1);
	return 0;
}
