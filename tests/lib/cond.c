// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The condition variable. A wake-up that is lost is a hang. */
#define _GNU_SOURCE
#include "expect.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef ROUNDS
#define ROUNDS 5000
#endif

enum { THREADS = 8, TURNS = 200 };

static lw_mutex_t mutex = LW_MUTEX_INIT;
static lw_cond_t not_full = LW_COND_INIT, not_empty = LW_COND_INIT;
static lw_cond_t gate = LW_COND_INIT;
static int held_items, consumed, generation, arrived;

static void in_threads(int n, void *(*body)(void *), void *arg)
{
	pthread_t threads[2 * THREADS];

	for (int i = 0; i < n; i++)
		EXPECT(!pthread_create(&threads[i], NULL, body, arg));
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* A place for one item: each signal has to reach somebody who can go on. */
static void put(void)
{
	lw_mutex_lock(&mutex);
	while (held_items)
		lw_cond_wait(&not_full, &mutex);
	held_items = 1;
	lw_mutex_unlock(&mutex);
	lw_cond_signal(&not_empty);
}

static void take(void)
{
	lw_mutex_lock(&mutex);
	while (!held_items)
		lw_cond_wait(&not_empty, &mutex);
	held_items = 0;
	consumed++;
	lw_cond_signal(&not_full);
	lw_mutex_unlock(&mutex);
}

/* Half of the threads put, half take. */
static void *one_place(void *next_role)
{
	void (*role)(void) =
		__atomic_fetch_add((int *)next_role, 1, __ATOMIC_RELAXED) % 2
			? put
			: take;

	for (int i = 0; i < ROUNDS; i++)
		role();
	return NULL;
}

/* A barrier: the last one to arrive lets all go. */
static void *barrier_turns(void *unused)
{
	for (int turn = 0; turn < TURNS; turn++) {
		lw_mutex_lock(&mutex);
		EXPECT(generation == turn);
		if (++arrived == THREADS) {
			arrived = 0;
			generation++;
			lw_cond_broadcast(&gate);
		}
		while (generation == turn)
			lw_cond_wait(&gate, &mutex);
		lw_mutex_unlock(&mutex);
	}
	return unused;
}

static long ns_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start->tv_sec) * 1000000000 + now.tv_nsec -
	       start->tv_nsec;
}

static void times_out(void)
{
	const long limit = 20000000;
	struct timespec start, until, past = { -5, 0 };
	bool woken;

	clock_gettime(CLOCK_MONOTONIC, &start);
	until = start;
	until.tv_nsec += limit; /* may be more than a second: allowed */
	lw_mutex_lock(&mutex);
	errno = 77;
	do
		woken = lw_cond_timedwait(&gate, &mutex, &until);
	while (woken);
	EXPECT(ns_since(&start) >= limit);
	EXPECT(!lw_mutex_trylock(&mutex)); /* ours again */
	EXPECT(!lw_cond_timedwait(&gate, &mutex, &start));
	EXPECT(!lw_cond_timedwait(&gate, &mutex, &past));
	EXPECT(errno == 77);
	lw_mutex_unlock(&mutex);
}

/* Deadlines that pass about when the signals come: none may be lost. */
static void *short_waits(void *until_consumed)
{
	struct timespec until;

	lw_mutex_lock(&mutex);
	while (consumed < *(int *)until_consumed) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += 50000;
		(void)lw_cond_timedwait(&not_empty, &mutex, &until);
		if (!held_items)
			continue;
		held_items = 0;
		consumed++;
		lw_cond_signal(&not_full);
	}
	lw_mutex_unlock(&mutex);
	return NULL;
}

static void *puts_items(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		put();
	return unused;
}

static void test_short_waits(void)
{
	int all = ROUNDS;
	pthread_t waiter;

	consumed = 0;
	EXPECT(!pthread_create(&waiter, NULL, short_waits, &all));
	in_threads(1, puts_items, NULL);
	pthread_join(waiter, NULL);
	EXPECT(consumed == ROUNDS);
}

static void *answers(void *unused)
{
	for (int i = 0; i < 10 * ROUNDS; i++) {
		lw_mutex_lock(&mutex);
		while (!held_items)
			lw_cond_wait(&not_empty, &mutex);
		held_items = 0;
		lw_mutex_unlock(&mutex);
	}
	return unused;
}

/*
 * One waits; the other does not, and comes the moment that the mutex is free:
 * its signal often falls between the waiter's unlock and its sleep.
 */
static void test_signal_before_sleep(void)
{
	pthread_t waiter;
	int left;

	held_items = 0;
	EXPECT(!pthread_create(&waiter, NULL, answers, NULL));
	for (left = 10 * ROUNDS; left;) {
		if (!lw_mutex_trylock(&mutex))
			continue;
		if (held_items) {
			lw_mutex_unlock(&mutex);
			continue;
		}
		held_items = 1;
		left--;
		lw_mutex_unlock(&mutex);
		lw_cond_signal(&not_empty);
	}
	pthread_join(waiter, NULL);
}

static void *wait_for_gate(void *unused)
{
	lw_mutex_lock(&mutex);
	arrived = 1;
	while (!generation)
		lw_cond_wait(&gate, &mutex);
	lw_mutex_unlock(&mutex);
	return unused;
}

/* A child uses a condition variable on which a thread waited at the fork. */
static void test_fork_with_waiter(void)
{
	int status, zero = 0;
	pthread_t waiter;
	pid_t pid;

	generation = arrived = held_items = 0;
	EXPECT(!pthread_create(&waiter, NULL, wait_for_gate, NULL));
	for (;;) {
		lw_mutex_lock(&mutex);
		if (arrived)
			break;
		lw_mutex_unlock(&mutex);
	}
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		lw_mutex_unlock(&mutex);
		lw_cond_broadcast(&gate);
		in_threads(2, one_place, &zero);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	generation = 1;
	lw_mutex_unlock(&mutex);
	lw_cond_signal(&gate);
	pthread_join(waiter, NULL);
}

void test_cond(void)
{
	int role = 0;

	lw_cond_signal(&gate); /* nobody waits: it does nothing */
	lw_cond_broadcast(&gate);
	times_out();
	in_threads(2 * THREADS, one_place, &role);
	EXPECT(consumed == THREADS * ROUNDS && !held_items);
	in_threads(THREADS, barrier_turns, NULL);
	EXPECT(generation == TURNS);
	test_short_waits();
	test_signal_before_sleep();
	test_fork_with_waiter();
}
