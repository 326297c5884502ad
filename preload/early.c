// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What would cost an uncontended call a system call that glibc's does not make is
 * asked for here, when we are loaded and in a forked child: strict seccomp may forbid
 * it later. It may be missing: a child of a bare clone(), or a new thread, asks when it
 * needs it.
 */
#include "preload.h"

/* The page that tells of forks, and the thread's id. */
static void ask(void)
{
	(void)lkp_tid();
}

__attribute__((constructor(101))) static void ask_early(void)
{
	int saved = errno;

	/* Without memory for the handler the child asks later. */
	(void)pthread_atfork(NULL, NULL, ask);
	ask();
	errno = saved;
}
