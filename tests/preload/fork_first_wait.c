/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A fork while the process's very first waiter sleeps, on one CPU: the child
 * must not follow what that waiter left in the lock.
 */
#include "expect.h"
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;
static atomic_int waiter;

static void *lock_once(void *arg)
{
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void *wait_ready(void *arg)
{
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	RET(pthread_mutex_lock(&m), 0);
	while (!ready)
		RET(pthread_cond_wait(&cond, &m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

/* Runs @body in a forked child, which must end well. */
static void in_child(void (*body)(void))
{
	pid_t pid = fork();
	int status;

	EXPECT(pid >= 0);
	if (!pid) {
		alarm(300);
		body();
		_exit(0);
	}
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
}

static void child_of_mutex(void)
{
	pthread_t t;

	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_mutex_lock(&m), 0);
	atomic_store(&waiter, 0);
	EQ(pthread_create(&t, NULL, lock_once, NULL), 0);
	wait_for_waiter(&waiter);
	RET(pthread_mutex_unlock(&m), 0);
	EQ(pthread_join(t, NULL), 0);
}

static void child_of_cond(void)
{
	RET(pthread_cond_broadcast(&cond), 0);
}

int main(int argc, char **argv)
{
	cpu_set_t one;
	pthread_t t;

	(void)argv;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	EQ(sched_setaffinity(0, sizeof(one), &one), 0);

	/* Each case is a process's first wait, so each has a process. */
	if (argc == 1 && !fork()) {
		EQ(pthread_create(&t, NULL, wait_ready, NULL), 0);
		wait_asleep(&waiter);
		in_child(child_of_cond);
		RET(pthread_mutex_lock(&m), 0);
		ready = 1;
		RET(pthread_cond_signal(&cond), 0);
		RET(pthread_mutex_unlock(&m), 0);
		EQ(pthread_join(t, NULL), 0);
		_exit(0);
	} else {
		int status;

		EXPECT(wait(&status) > 0);
		EQ(status, 0);
	}
	RET(pthread_mutex_lock(&m), 0);
	EQ(pthread_create(&t, NULL, lock_once, NULL), 0);
	wait_for_waiter(&waiter);
	in_child(child_of_mutex);
	RET(pthread_mutex_unlock(&m), 0);
	EQ(pthread_join(t, NULL), 0);
	return 0;
}
