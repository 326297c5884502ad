/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_PRELOAD_SYSCALL_H
#define LKP_PRELOAD_SYSCALL_H

/*
 * A system call by the interposer itself, and by the recorder: a program, or another
 * library that is loaded before it, may have a syscall() of its own, which glibc's locks
 * do not call. It may refuse what we ask, or lock a mutex. For x86-64, as both are.
 * Returns the result or -errno.
 */
static inline long host_syscall(long nr, long a, long b, long c, long d, long e,
				long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
