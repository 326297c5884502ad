/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A forked child's first slow path on a lock that threads slept for at the fork,
 * and a signal handler that tries the lock, at each instruction of that path:
 * the handler never waits for the thread that it interrupted.
 */
#include "expect.h"

#include "../step.h"

#include <sys/syscall.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static atomic_int sleeping[2];

static void *sleep_for_mutex(void *arg)
{
	atomic_store(&sleeping[0], (int)syscall(SYS_gettid));
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void *sleep_for_rwlock(void *arg)
{
	atomic_store(&sleeping[1], (int)syscall(SYS_gettid));
	RET(pthread_rwlock_wrlock(&rw), 0);
	RET(pthread_rwlock_unlock(&rw), 0);
	return arg;
}

static void try_mutex(void)
{
	if (!pthread_mutex_trylock(&m))
		RET(pthread_mutex_unlock(&m), 0);
}

static void try_rwlock(void)
{
	if (!pthread_rwlock_trywrlock(&rw) || !pthread_rwlock_tryrdlock(&rw))
		RET(pthread_rwlock_unlock(&rw), 0);
}

/* What the child does with what its thread holds, and what interrupts it. */
static void unlock_mutex(void)
{
	RET(pthread_mutex_unlock(&m), 0);
}

static void fail_to_write(void)
{
	EXPECT(pthread_rwlock_trywrlock(&rw) == EBUSY);
}

static void unlock_rwlock(void)
{
	RET(pthread_rwlock_unlock(&rw), 0);
}

/* The process's share of the first slow path, which is long and holds signals
 * back: it is not what is stepped through. */
static void notice_fork(void)
{
	static pthread_rwlock_t other = PTHREAD_RWLOCK_INITIALIZER;

	RET(pthread_rwlock_wrlock(&other), 0);
	RET(pthread_rwlock_unlock(&other), 0);
}

/* Looks each function up, so that not the dynamic linker is stepped through. */
static void bind_functions(void)
{
	static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
	static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

	RET(pthread_mutex_trylock(&other), 0);
	RET(pthread_mutex_unlock(&other), 0);
	RET(pthread_rwlock_trywrlock(&rwlock), 0);
	RET(pthread_rwlock_unlock(&rwlock), 0);
	RET(pthread_rwlock_tryrdlock(&rwlock), 0);
	RET(pthread_rwlock_unlock(&rwlock), 0);
}

static void at_each_step(void (*body)(void), void (*handler)(void))
{
	int stepped = 1;
	long steps;

	for (steps = 1; stepped; steps++) {
		STAGE(steps);
		stepped = step_into_child(notice_fork, body, handler, steps);
		EXPECT(stepped >= 0);
	}
	EXPECT(steps > 11);
}

int main(void)
{
	pthread_t sleepers[2];

	bind_functions();
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_rwlock_rdlock(&rw), 0);
	start(sleepers, 1, sleep_for_mutex);
	start(sleepers + 1, 1, sleep_for_rwlock);
	wait_for_waiter(&sleeping[0]);
	wait_asleep(&sleeping[1]);
	at_each_step(unlock_mutex, try_mutex);
	/* Waiters of glibc's stay in a child's read/write lock. */
	if (expect_lockwork()) {
		at_each_step(fail_to_write, try_rwlock);
		at_each_step(unlock_rwlock, try_rwlock);
	}
	unlock_rwlock();
	unlock_mutex();
	finish(sleepers, 2);
	return 0;
}
