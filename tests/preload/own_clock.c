/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program whose clock_gettime() is hours behind the kernel's clocks, and later decades ahead,
 * as that of libfaketime is. glibc's locks do not call it. So deadlines are those of the
 * kernel, and threads that sleep for a mutex go on.
 */
#include "expect.h"

#include <sys/syscall.h>

enum { THREADS = 4, PAIRS = 50000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static time_t shift = -50000;
static long count;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	long err = syscall(SYS_clock_gettime, clock, now);

	now->tv_sec += shift;
	return (int)err;
}

static struct timespec soon(clockid_t clock)
{
	struct timespec when;

	EQ(syscall(SYS_clock_gettime, clock, &when), 0);
	when.tv_sec++;
	return when;
}

static void *worker(void *arg)
{
	for (int i = 0; i < PAIRS; i++) {
		EQ(pthread_mutex_lock(&mutex), 0);
		count++;
		EQ(pthread_mutex_unlock(&mutex), 0);
	}
	return arg;
}

static void *too_late(void *arg)
{
	struct timespec when = soon(CLOCK_REALTIME);

	EQ(pthread_mutex_timedlock(&mutex, &when), ETIMEDOUT);
	when = soon(CLOCK_REALTIME);
	EQ(pthread_rwlock_timedrdlock(&rwlock, &when), ETIMEDOUT);
	return arg;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct timespec when;

	EQ(pthread_mutex_lock(&mutex), 0);
	EQ(pthread_rwlock_wrlock(&rwlock), 0);
	EQ(pthread_create(&threads[0], NULL, too_late, NULL), 0);
	EQ(pthread_join(threads[0], NULL), 0);
	STAGE(1);
	when = soon(CLOCK_REALTIME);
	EQ(pthread_cond_timedwait(&cond, &mutex, &when), ETIMEDOUT);
	EQ(pthread_rwlock_unlock(&rwlock), 0);
	EQ(pthread_mutex_unlock(&mutex), 0);
	STAGE(2);
	shift = 1800000000;
	for (int i = 0; i < THREADS; i++)
		EQ(pthread_create(&threads[i], NULL, worker, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		EQ(pthread_join(threads[i], NULL), 0);
	EQ(count, (long)THREADS * PAIRS);
	return 0;
}
