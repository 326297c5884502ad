// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Which CPU this thread runs on: from the rseq area that glibc registers, by
 * one load; without it (old glibc or kernel, glibc.pthread.rseq=0) from getcpu.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <sched.h>

/* No rseq symbol: an offset at which "cpu_id" reads as unknown. */
static __thread u32 no_rseq __attribute__((tls_model("initial-exec"))) = ~0u;

/* Where "cpu_id" of rseq is, from the thread pointer. */
ptrdiff_t lkp_rseq_cpu;

/*
 * Until this has run, the offset is 0 and a hint may be wrong, no more than
 * that: it is read from the thread control block.
 */
__attribute__((constructor(101))) static void find_rseq(void)
{
	if (&__rseq_offset)
		lkp_rseq_cpu = __rseq_offset + 4;
	else
		lkp_rseq_cpu =
			(char *)&no_rseq - (char *)__builtin_thread_pointer();
}

__cold u32 lkp_vcpu_slow(void)
{
	int saved = errno;
	int cpu = sched_getcpu();

	errno = saved;
	return cpu < 0 ? ~0u : (u32)cpu;
}

__cold void lkp_leave_owner_slow(u32 *hint)
{
	WRITE_ONCE(*hint, next_owner(READ_ONCE(*hint)));
}
