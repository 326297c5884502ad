/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program with one thread, and the moments it gets a second one. */
#include "expect.h"

enum { PAIRS = 10000000 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long counter;
static atomic_int inside, r_inside;

static void *body(void *arg)
{
	for (int i = 0; i < 5000; i++) {
		RET(pthread_mutex_lock(&m), 0);
		EQ(inside++, 0);
		counter++;
		inside--;
		RET(pthread_mutex_unlock(&m), 0);
		RET(pthread_mutex_lock(&r), 0);
		EQ(r_inside++, 0);
		r_inside--;
		RET(pthread_mutex_unlock(&r), 0);
		if (arg)
			continue;
		RET(pthread_rwlock_wrlock(&rw), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
	}
	return arg;
}

/* Taken while alone, let go in company. */
static void grow(void)
{
	pthread_t threads[2];

	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_lock(&r), 0);
	RET(pthread_mutex_lock(&r), 0);
	RET(pthread_rwlock_rdlock(&rw), 0);
	start(threads, 2, body);
	nap_us(2000);
	EQ(counter, 0);
	RET(pthread_mutex_unlock(&r), 0);
	RET(pthread_mutex_unlock(&m), 0);
	EQ(other_mutex(pthread_mutex_trylock, &r), EBUSY);
	RET(pthread_rwlock_unlock(&rw), 0);
	/* The threads take m and r one after the other, never both. */
	RET(pthread_mutex_unlock(&r), 0);
	finish(threads, 2);
	EQ(counter, 2 * 5000);
	counter = 0;
}

static void mixed(long n)
{
	for (long i = 0; i < n; i++) {
		RET(pthread_mutex_lock(&r), 0);
		RET(pthread_mutex_trylock(&r), 0);
		RET(pthread_rwlock_rdlock(&rw), 0);
		RET(pthread_spin_lock(&spin), 0);
		RET(pthread_spin_unlock(&spin), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
		RET(pthread_mutex_unlock(&r), 0);
		RET(pthread_mutex_unlock(&r), 0);
		RET(pthread_rwlock_wrlock(&rw), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
	}
}

int main(void)
{
	pid_t pid;

	RET(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	for (int i = 0; i < PAIRS; i++) {
		EQ(pthread_mutex_lock(&m), 0);
		EQ(pthread_mutex_unlock(&m), 0);
	}
	mixed(200000);
	grow();
	mixed(1000);
	/* A child starts again with one thread. */
	pid = fork();
	if (pid == 0) {
		mixed(10000);
		grow();
		_exit(0);
	}
	reap(pid);
	for (int i = 0; i < 5; i++)
		grow();
	return 0;
}
