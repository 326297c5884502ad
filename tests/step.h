/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Interrupts a thread after any number of instructions, as a signal may: the CPU
 * traps after each one. For files that are compiled as gnu11, on x86-64.
 */
#ifndef LOCKWORK_TESTS_STEP_H
#define LOCKWORK_TESTS_STEP_H

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define STEP_TRAP_FLAG 0x100 /* of EFLAGS */

static volatile long step_left;
static void (*step_handler)(void);

static void step_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig, (void)info;
	if (--step_left)
		return;
	uc->uc_mcontext.gregs[REG_EFL] &= ~STEP_TRAP_FLAG;
	/* Where a signal would have to wait, it does not come at all. */
	if (!sigismember(&uc->uc_sigmask, SIGUSR1))
		step_handler();
}

/* Calls @body, interrupted by @handler after @steps instructions, from 1; false
 * if it has fewer. */
static inline bool step_into(void (*body)(void), void (*handler)(void),
			     long steps)
{
	struct sigaction action = { .sa_sigaction = step_trap,
				    .sa_flags = SA_SIGINFO };

	step_left = steps;
	step_handler = handler;
	sigaction(SIGTRAP, &action, NULL);
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() |
				       STEP_TRAP_FLAG);
	body();
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() &
				       ~(unsigned long long)STEP_TRAP_FLAG);
	return step_left <= 0;
}

/* The same in a forked child, which calls @prepare first: 1, 0 if @body has fewer
 * instructions, or -1 if the child did not end well. */
static inline int step_into_child(void (*prepare)(void), void (*body)(void),
				  void (*handler)(void), long steps)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(300); /* to be found by its status */
		prepare();
		_exit(step_into(body, handler, steps) ? 0 : 2);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status) == 0 ? 1 : WEXITSTATUS(status) == 2 ? 0 : -1;
}

#endif
