// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Uses locks a known number of times and measures what it does with its own clock. It
 * prints lines `lock figure value`, which a profile of it must agree with.
 *
 * No figure depends on luck. A section is measured from inside and from outside, so the
 * true hold is between both. A wait is known to have begun when the waiter sleeps.
 */
#define _GNU_SOURCE
#include "asleep.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	   5
#define SECTION_NS 20000000LL

pthread_mutex_t counted_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t recursive_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t errorcheck_mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
pthread_mutex_t slow_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t queue_cond = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t table_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t tiny_spin;
mtx_t c11_mutex;

static void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "truth: %s\n", what);
		exit(1);
	}
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) void counted_here(void)
{
	pthread_mutex_lock(&counted_mutex);
	pthread_mutex_unlock(&counted_mutex);
}

/* Long holds, which are all timed. The inner one is a part of each. */
static void count_recursive(void)
{
	long long inside = 0, outside = 0, t0, t1, t2;

	for (int i = 0; i < 10; i++) {
		t0 = now();
		pthread_mutex_lock(&recursive_mutex);
		t1 = now();
		pthread_mutex_lock(&recursive_mutex);
		while (now() - t1 < SECTION_NS / 10)
			;
		t2 = now();
		pthread_mutex_unlock(&recursive_mutex);
		pthread_mutex_unlock(&recursive_mutex);
		inside += t2 - t1;
		outside += now() - t0;
	}
	printf("recursive_mutex count 20\nrecursive_mutex holds 10\n"
	       "recursive_mutex inside_ns %lld\nrecursive_mutex outside_ns "
	       "%lld\n",
	       inside, outside);
}

static void count_all(void)
{
	struct timespec past = { 0, 0 };

	for (int i = 0; i < 1000; i++)
		counted_here();
	pthread_mutex_lock(&counted_mutex);
	for (int i = 0; i < 7; i++)
		must(pthread_mutex_trylock(&counted_mutex) == EBUSY, "try");
	for (int i = 0; i < 3; i++)
		must(pthread_mutex_timedlock(&counted_mutex, &past) ==
			     ETIMEDOUT,
		     "timed");
	pthread_mutex_unlock(&counted_mutex);
	count_recursive();
	pthread_mutex_lock(&errorcheck_mutex);
	must(pthread_mutex_lock(&errorcheck_mutex) == EDEADLK, "relock");
	pthread_mutex_unlock(&errorcheck_mutex);
	must(pthread_mutex_unlock(&errorcheck_mutex) == EPERM, "unlock");
	for (int i = 0; i < 300; i++) {
		pthread_rwlock_rdlock(&table_rwlock);
		pthread_rwlock_unlock(&table_rwlock);
	}
	for (int i = 0; i < 100; i++) {
		pthread_rwlock_wrlock(&table_rwlock);
		pthread_rwlock_unlock(&table_rwlock);
	}
	pthread_spin_init(&tiny_spin, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 50; i++) {
		pthread_spin_lock(&tiny_spin);
		pthread_spin_unlock(&tiny_spin);
	}
	mtx_init(&c11_mutex, mtx_plain);
	for (int i = 0; i < 20; i++) {
		mtx_lock(&c11_mutex);
		mtx_unlock(&c11_mutex);
	}
	printf("counted_mutex count 1001\ncounted_mutex failed 7\n"
	       "counted_mutex timeouts 3\n"
	       "errorcheck_mutex count 1\ntable_rwlock count 400\n"
	       "tiny_spin count 50\nc11_mutex count 20\n");
}

/* --- a section that another thread waits for ------------------------------- */

static long long inside, outside, waited_at_least, waited_at_most;
static pid_t waiter;
static int begun;

__attribute__((noinline)) void hold_slowly(pid_t tid)
{
	long long t0 = now(), t1, t2, asleep;

	pthread_mutex_lock(&slow_mutex);
	t1 = now();
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
	await_sleep(tid);
	asleep = now();
	while (now() - asleep < SECTION_NS)
		;
	t2 = now();
	pthread_mutex_unlock(&slow_mutex);
	inside += t2 - t1;
	outside += now() - t0;
	waited_at_least += t2 - asleep;
}

__attribute__((noinline)) void wait_for_it(void)
{
	long long t0 = now(), t1, t2;

	pthread_mutex_lock(&slow_mutex);
	t1 = now();
	t2 = now();
	pthread_mutex_unlock(&slow_mutex);
	waited_at_most += t1 - t0;
	inside += t2 - t1;
	outside += now() - t0;
}

static void *wait_once(void *arg)
{
	__atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		sched_yield();
	wait_for_it();
	return arg;
}

static void wait_slowly(void)
{
	pthread_t thread;
	pid_t tid;

	for (int i = 0; i < ROUNDS; i++) {
		waiter = begun = 0;
		pthread_create(&thread, NULL, wait_once, NULL);
		do {
			sched_yield();
			tid = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE);
		} while (!tid);
		hold_slowly(tid);
		pthread_join(thread, NULL);
	}
	printf("slow_mutex count %d\nslow_mutex contended %d\n"
	       "slow_mutex inside_ns %lld\nslow_mutex outside_ns %lld\n"
	       "slow_mutex at_least_ns %lld\nslow_mutex at_most_ns %lld\n",
	       2 * ROUNDS, ROUNDS, inside, outside, waited_at_least,
	       waited_at_most);
}

/* --- a condition variable --------------------------------------------------- */

static int waiting, signalled, waits;

static void *consume(void *arg)
{
	pthread_mutex_lock(&queue_mutex);
	for (int i = 0; i < 10; i++) {
		waiting = 1;
		for (; !signalled; waits++)
			pthread_cond_wait(&queue_cond, &queue_mutex);
		signalled = 0;
	}
	pthread_mutex_unlock(&queue_mutex);
	return arg;
}

static void signal_all(void)
{
	pthread_t thread;
	int sent = 0, count = 1; /* the consumer's */

	pthread_create(&thread, NULL, consume, NULL);
	while (sent < 10) {
		pthread_mutex_lock(&queue_mutex);
		count++;
		if (waiting) {
			waiting = 0;
			signalled = 1;
			sent++;
			pthread_cond_signal(&queue_cond);
		}
		pthread_mutex_unlock(&queue_mutex);
		sched_yield();
	}
	pthread_join(thread, NULL);
	/* Each wait ends a hold and begins another. */
	printf("queue_cond count %d\nqueue_mutex count %d\n"
	       "queue_mutex holds %d\n",
	       waits, count, count + waits);
}

int main(void)
{
	pid_t child;

	must(!errno, "errno is not 0 when main() begins"); /* C11 7.5p3 */
	wait_slowly();
	count_all();
	signal_all();
	fflush(stdout);
	child = fork();
	if (!child) {
		for (int i = 0; i < 5; i++)
			counted_here();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("child count 5\n");
	return 3;
}
