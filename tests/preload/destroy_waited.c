/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A mutex that a waiter of a condition variable will want back is in use: destroy says
 * EBUSY, also for the kinds that stay glibc's. A read/write lock may be destroyed while
 * it is held.
 */
#include "expect.h"

#include <sys/syscall.h>

static pthread_mutex_t m;
static pthread_cond_t cond, shared_cond;
static int ready, go;

static void *waiter(void *arg)
{
	RET(pthread_mutex_lock(&m), 0);
	ready = 1;
	while (!go)
		RET(pthread_cond_wait(&cond, &m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

/* A condition variable of several processes is glibc's, and so is a wait for it. */
static void wait_by_glibc(void)
{
	struct timespec past = { .tv_sec = 1 };

	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_cond_timedwait(&shared_cond, &m, &past), ETIMEDOUT);
	RET(pthread_mutex_unlock(&m), 0);
}

static void check(int type, int shared, int protocol)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	ready = go = 0;
	EQ(pthread_mutexattr_init(&attr), 0);
	EQ(pthread_mutexattr_settype(&attr, type), 0);
	EQ(pthread_mutexattr_setpshared(&attr, shared), 0);
	EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);
	RET(pthread_mutex_init(&m, &attr), 0);
	RET(pthread_cond_init(&cond, NULL), 0);
	for (int i = 0; i < 3; i++)
		wait_by_glibc();
	EQ(pthread_create(&thread, NULL, waiter, NULL), 0);
	/* Once we have it, the waiter waits. */
	for (int seen = 0; !seen;) {
		RET(pthread_mutex_lock(&m), 0);
		seen = ready;
		RET(pthread_mutex_unlock(&m), 0);
		sched_yield();
	}
	RET(pthread_mutex_destroy(&m), EBUSY);
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_destroy(&m), EBUSY);
	go = 1;
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_mutex_unlock(&m), 0);
	EQ(pthread_join(thread, NULL), 0);
	RET(pthread_mutex_destroy(&m), 0);
	RET(pthread_cond_destroy(&cond), 0);
}

int main(void)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL,
				     PTHREAD_MUTEX_ADAPTIVE_NP,
				     PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK };
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	pthread_condattr_t attr;

	EQ(pthread_condattr_init(&attr), 0);
	EQ(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	RET(pthread_cond_init(&shared_cond, &attr), 0);
	for (int i = 0; i < LEN(types); i++) {
		check(types[i], PTHREAD_PROCESS_PRIVATE, PTHREAD_PRIO_NONE);
		check(types[i], PTHREAD_PROCESS_SHARED, PTHREAD_PRIO_NONE);
		if (types[i] != PTHREAD_MUTEX_ADAPTIVE_NP)
			check(types[i], PTHREAD_PROCESS_PRIVATE,
			      PTHREAD_PRIO_INHERIT);
	}
	RET(pthread_rwlock_rdlock(&l), 0);
	RET(pthread_rwlock_destroy(&l), 0);
	return 0;
}
