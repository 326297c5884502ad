/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program whose syscall() does nothing, as that of torsocks refuses what it does not know.
 * glibc's locks do not call it, so threads sleep, and a child knows that it is one.
 */
#include "expect.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_int calls, tid;
static int ready;

long syscall(long number, ...)
{
	(void)number;
	atomic_fetch_add(&calls, 1);
	return 0;
}

static void *waiter(void *arg)
{
	atomic_store(&tid, (int)gettid());
	EQ(pthread_mutex_lock(&mutex), 0);
	while (!ready)
		EQ(pthread_cond_wait(&cond, &mutex), 0);
	EQ(pthread_mutex_unlock(&mutex), 0);
	EQ(pthread_rwlock_wrlock(&rwlock), 0);
	EQ(pthread_rwlock_unlock(&rwlock), 0);
	return arg;
}

static void have_it_wait(void)
{
	pthread_t thread;

	ready = 0;
	EQ(pthread_rwlock_rdlock(&rwlock), 0);
	atomic_store(&tid, 0);
	EQ(pthread_create(&thread, NULL, waiter, NULL), 0);
	wait_asleep(&tid);
	EQ(pthread_mutex_lock(&mutex), 0);
	ready = 1;
	EQ(pthread_cond_signal(&cond), 0);
	EQ(pthread_mutex_unlock(&mutex), 0);
	nap_us(1000);
	EQ(pthread_rwlock_unlock(&rwlock), 0);
	EQ(pthread_join(thread, NULL), 0);
}

int main(void)
{
	int status = 0;
	pid_t pid;

	have_it_wait();
	STAGE(1);
	EQ(pthread_mutex_lock(&mutex), 0);
	pid = fork();
	if (!pid) {
		EQ(pthread_mutex_unlock(&mutex), 0);
		have_it_wait();
		_exit(0);
	}
	EXPECT(pid > 0);
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
	EQ(pthread_mutex_unlock(&mutex), 0);
	EQ(calls, 0);
	return 0;
}
