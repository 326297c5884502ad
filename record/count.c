// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What waits for locks and for condition variables count alike. */
#define _GNU_SOURCE
#include "calls.h"
#include "system.h"

void rec_bucket(u32 *histogram, u64 ticks, u32 weight)
{
	u32 n = ticks ? 63 - (u32)__builtin_clzll(ticks) : 0;
	u32 *bucket = &histogram[n < REC_BUCKETS ? n : REC_BUCKETS - 1];

	/* A minute of short holds is enough for that. */
	if (unlikely(__builtin_add_overflow(*bucket, weight, bucket)))
		*bucket = UINT32_MAX;
}

void rec_switches(u64 *slept, u64 *preempted)
{
	struct rusage usage;
	int saved = errno;

	if (sys_getrusage(RUSAGE_THREAD, &usage))
		usage = (struct rusage){ 0 };
	*slept = (u64)usage.ru_nvcsw;
	*preempted = (u64)usage.ru_nivcsw;
	errno = saved;
}

/* Not of getrusage(), which is only as exact as the scheduler's last look at the thread. */
u64 rec_cpu_time(void)
{
	struct timespec now = { 0 };
	int saved = errno;

	rec_sys(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0);
	errno = saved;
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

void rec_count_time(struct rec_detail *d, u64 waited)
{
	d->contended++;
	d->waited += waited;
	if (waited > d->longest_wait)
		d->longest_wait = waited;
	rec_bucket(d->wait, waited, 1);
}

void rec_count_queue(struct rec_detail *d, u64 queue, u32 weight)
{
	d->queue += queue * weight;
	if (queue > d->longest_queue)
		d->longest_queue = queue;
}
