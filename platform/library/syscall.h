/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_LIBRARY_SYSCALL_H
#define LKP_LIBRARY_SYSCALL_H

/*
 * A system call by the C library's function, so that a recorder sees the library's sleeps.
 * Leaves errno alone. Returns the result or -errno.
 */
#include <errno.h>
#include <unistd.h>

static inline long host_syscall(long nr, long a, long b, long c, long d, long e,
				long f)
{
	int saved = errno;
	long result = syscall(nr, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = saved;
	return result;
}

#endif
