// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the process took of the CPUs, as the kernel counts it. */
#define _GNU_SOURCE
#include "state.h"
#include "system.h"

static u64 in_ns(struct timeval time)
{
	return (u64)time.tv_sec * 1000000000u + (u64)time.tv_usec * 1000u;
}

void rec_file_note_usage(void)
{
	struct rusage usage;

	if (sys_getrusage(RUSAGE_SELF, &usage))
		return;
	rec_file->cpu_ns = in_ns(usage.ru_utime) + in_ns(usage.ru_stime);
	rec_file->slept = (u64)usage.ru_nvcsw;
	rec_file->preempted = (u64)usage.ru_nivcsw;
}
