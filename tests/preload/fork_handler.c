/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A forked child's first slow path on a lock that threads slept for at the fork,
 * and a signal handler that tries the lock, at each instruction of the beginning
 * of that path: the handler never waits for the thread that it interrupted.
 */
#include "check.h"

#include "../step.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static void *sleep_for_mutex(void *arg)
{
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void *sleep_for_rwlock(void *arg)
{
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
	CHECK(pthread_rwlock_trywrlock(&rw) == EBUSY);
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

/* The child forgets waiters early on; after that, a sample will do. */
static long next_step(long steps)
{
	return steps + (steps < 200 ? 1 : 16);
}

static void at_each_step(void (*body)(void), void (*handler)(void))
{
	for (long steps = 1, last = 0; !last; steps = next_step(steps)) {
		int status;
		pid_t pid;

		STAGE(steps);
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			alarm(100); /* to be found by its status */
			notice_fork();
			_exit(step_into(body, handler, steps) ? 0 : 2);
		}
		while (waitpid(pid, &status, 0) < 0)
			EQ(errno, EINTR);
		CHECK(WIFEXITED(status));
		last = WEXITSTATUS(status) == 2;
		CHECK(last || WEXITSTATUS(status) == 0);
		CHECK(!last || steps > 10);
	}
}

int main(void)
{
	pthread_t sleepers[2];

	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_rwlock_rdlock(&rw), 0);
	start(sleepers, 1, sleep_for_mutex);
	start(sleepers + 1, 1, sleep_for_rwlock);
	nap_us(100000); /* until they sleep, most likely */
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
