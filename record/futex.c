// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * syscall(): locks that are not pthread's, such as those of Rust's standard library, wait
 * by it. Only waits on a futex are counted. All other calls jump to the next definition
 * with registers and stack as they are, because some return twice or on another stack.
 */
#define _GNU_SOURCE
#include "calls.h"
#include "stack.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Its seventh argument is on the stack, as that of syscall() is. */
typedef long call(long number, long a, long b, long c, long d, long e, long f);

long rec_syscall_wait(long number, long a, long b, long c, long d, long e,
		      long f) __attribute__((visibility("hidden"), used));
long rec_syscall_early(long number, long a, long b, long c, long d, long e,
		       long f) __attribute__((visibility("hidden"), used));
/* NULL until the next definition is known. */
call *rec_syscall_next __attribute__((visibility("hidden"), used));

_Static_assert(__NR_futex == 202, "the number in the text below");
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	cmpq $202, %rdi\n"
	"	je rec_syscall_wait\n"
	"	cmpq $0, rec_syscall_next(%rip)\n"
	"	je rec_syscall_early\n"
	"	jmp *rec_syscall_next(%rip)\n"
	".size syscall, .-syscall\n");

long rec_syscall_early(long number, long a, long b, long c, long d, long e,
		       long f)
{
	call *next = (call *)rec_next(REC_NEXT_syscall);

	WRITE_ONCE(rec_syscall_next, next);
	return next(number, a, b, c, d, e, f);
}

static bool is_wait(long operation)
{
	operation &= FUTEX_CMD_MASK;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* The call is often in the program's own lock, so its callers say more. */
static void count_stack(struct rec_waiting *w, struct rec_thread *t,
			struct rec_site *s)
{
	struct rec_detail *d = rec_detail(t, s);

	if (d)
		rec_stack_count(d, w->stack, false, rec_ticks() - w->since);
}

/* A policy's own sleep inside of a lock call is part of that call. */
long rec_syscall_wait(long number, long a, long b, long c, long d, long e,
		      long f)
{
	struct rec_thread *t = is_wait(b) ? rec_thread() : NULL;
	struct rec_waiting w;
	struct rec_site *s;
	long result;
	int saved;

	if (!t || t->inside)
		return rec_syscall_early(number, a, b, c, d, e, f);
	s = rec_site(t, (void *)a, CALLER, REC_FUTEX);
	rec_cond_begin(&w, t, s);
	rec_busy(t);
	w.stack = rec_stack_of(t, s, REC_OWN_FUTEX);
	rec_idle(t);
	result = rec_syscall_early(number, a, b, c, d, e, f);
	saved = errno;
	/* EAGAIN: the word had changed already, so it did not wait. */
	if (rec_cond_end(&w, t, s,
			 result && saved == ETIMEDOUT ? ETIMEDOUT
			 : result && saved == EAGAIN  ? EAGAIN
						      : 0))
		count_stack(&w, t, s);
	errno = saved;
	return result;
}
