/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads that lose the CPU where it hurts: a signal stops one of them at any
 * instruction, long enough for the others to do whatever it allows them to.
 */
#ifndef LOCKWORK_TESTS_PRELOAD_PREEMPT_H
#define LOCKWORK_TESTS_PRELOAD_PREEMPT_H

#include "expect.h"

static void *(*preempt_body)(void *);
static atomic_int preempt_done;

static inline void preempt_stop(int sig)
{
	(void)sig;
	nap_us(150);
}

static inline void *preempt_wrap(void *arg)
{
	void *result = preempt_body(arg);

	preempt_done++;
	return result;
}

static inline void run_preempted(int n, void *(*body)(void *))
{
	struct sigaction action = { .sa_handler = preempt_stop,
				    .sa_flags = SA_RESTART };
	pthread_t threads[n];

	EQ(sigaction(SIGUSR2, &action, NULL), 0);
	preempt_body = body;
	preempt_done = 0;
	start(threads, n, preempt_wrap);
	for (unsigned int i = 0; preempt_done < n; i++) {
		EQ(pthread_kill(threads[i % n], SIGUSR2), 0);
		nap_us(i * 7 % 40);
	}
	finish(threads, n);
}

#endif
