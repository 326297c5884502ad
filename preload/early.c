// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What would cost an uncontended call a system call that glibc's does not make is
 * asked for here, when we are loaded and in a forked child: strict seccomp may forbid
 * it later. It may be missing: a child of a bare clone() asks when it needs it.
 */
#include "preload.h"
#include "syscall.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

/* A thread's descriptor begins at the thread pointer, and is smaller. */
#define DESCRIPTOR 4096

/*
 * The kernel clears a thread's id at its end where glibc keeps it, and says where that
 * is. 0: it does not, or that is not in the descriptor.
 */
static ptrdiff_t find_tid(void)
{
	uintptr_t address = 0;
	ptrdiff_t offset;

	if (host_syscall(SYS_prctl, PR_GET_TID_ADDRESS, (long)&address, 0, 0, 0,
			 0))
		return 0;
	offset = (ptrdiff_t)(address - (uintptr_t)pthread_self());
	return offset > 0 && offset < DESCRIPTOR ? offset : 0;
}

/*
 * The page that tells of forks, and where threads find their id. Of a kernel that refuses
 * gettid only the place is known; any id there is one that glibc has put.
 */
static void ask(void)
{
	ptrdiff_t offset = find_tid();
	long asked = host_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	u32 there = offset ? lkp_thread_word(offset) : 0;

	(void)wait_epoch();
	/* Of the child's first thread only a fork() of glibc's has changed it. */
	if (there && (asked < 0 || there == (u32)asked))
		lkp_tid_is_kept(offset);
	if (lkp_has_tid())
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
