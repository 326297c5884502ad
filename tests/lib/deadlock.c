/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What LOCKWORK_DEBUG=1 reports of threads that wait for each other, and what not. */
#define _GNU_SOURCE
#include "expect.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#ifndef ROUNDS
#define ROUNDS 20000
#endif

enum { MOST = 5, THREADS = 8 };

static lw_mutex_t ring[MOST], gate = LW_MUTEX_INIT;
static pthread_barrier_t all_hold;
static long size, shared[MOST];

static void start_and_join(void *(*body)(void *), long threads)
{
	pthread_t ids[THREADS];

	for (long i = 0; i < threads; i++)
		EXPECT(!pthread_create(&ids[i], NULL, body, (void *)i));
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

/* Each holds one mutex before any waits for the next one. */
static void *wait_in_ring(void *arg)
{
	long i = (long)arg;

	lw_mutex_lock(&ring[i]);
	printf("%p %d\n", (void *)&ring[i], (int)gettid());
	fflush(stdout);
	pthread_barrier_wait(&all_hold);
	lw_mutex_lock(&ring[(i + 1) % size]);
	lw_mutex_unlock(&ring[(i + 1) % size]);
	lw_mutex_unlock(&ring[i]);
	return NULL;
}

/* "ring2" to "ring5": prints each mutex and its holder, and never returns. */
bool deadlock(const char *how)
{
	if (strncmp(how, "ring", 4))
		return false;
	size = atol(how + 4);
	EXPECT(size >= 2 && size <= MOST);
	pthread_barrier_init(&all_hold, NULL, (unsigned)size);
	start_and_join(wait_in_ring, size);
	return true;
}

/* A ring of two, one of whom gives up. */
static void *wait_or_give_up(void *arg)
{
	long i = (long)arg;
	struct timespec until;

	lw_mutex_lock(&ring[i]);
	pthread_barrier_wait(&all_hold);
	if (i == 0) {
		lw_mutex_lock(&ring[1]);
		lw_mutex_unlock(&ring[1]);
	} else {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec +=
			20000000; /* may be more than a second: allowed */
		EXPECT(!lw_mutex_timedlock(&ring[0], &until));
	}
	lw_mutex_unlock(&ring[i]);
	return NULL;
}

static void *lock_in_order(void *arg)
{
	unsigned random = (unsigned)(long)arg + 1;

	for (int round = 0; round < ROUNDS; round++) {
		random = random * 1103515245 + 12345;
		for (int i = 0; i < MOST; i++)
			if (random >> (16 + i) & 1)
				lw_mutex_lock(&ring[i]);
		for (int i = 0; i < MOST; i++) {
			if (!(random >> (16 + i) & 1))
				continue;
			shared[i]++;
			lw_mutex_unlock(&ring[i]);
		}
	}
	return NULL;
}

/*
 * In both orders, but two at a time only behind the gate: each link of a circle is
 * there now and then, never the circle.
 */
static void *lock_behind_gate(void *arg)
{
	long self = (long)arg;

	for (int round = 0; round < ROUNDS; round++) {
		long first = (self + round) % 2;

		if (self % 2) {
			lw_mutex_lock(&ring[first]);
			lw_mutex_unlock(&ring[first]);
			continue;
		}
		lw_mutex_lock(&gate);
		lw_mutex_lock(&ring[first]);
		lw_mutex_lock(&ring[!first]);
		shared[0]++;
		lw_mutex_unlock(&ring[first]);
		lw_mutex_unlock(&ring[!first]);
		lw_mutex_unlock(&gate);
	}
	return NULL;
}

/*
 * Even threads hold the first mutex and wait for the second; odd ones give the second
 * up before they wait for the first. A thread that reads the holder of the second, and then
 * what that one waits for, sees a circle that was never there.
 */
static void *lock_by_turns(void *arg)
{
	for (int round = 0; round < ROUNDS; round++) {
		if ((long)arg % 2) {
			lw_mutex_lock(&ring[1]);
			lw_mutex_unlock(&ring[1]);
			lw_mutex_lock(&ring[0]);
			lw_mutex_unlock(&ring[0]);
			continue;
		}
		lw_mutex_lock(&ring[0]);
		lw_mutex_lock(&ring[1]);
		shared[0]++;
		lw_mutex_unlock(&ring[1]);
		lw_mutex_unlock(&ring[0]);
	}
	return NULL;
}

void test_no_deadlock(void)
{
	pthread_barrier_init(&all_hold, NULL, 2);
	start_and_join(wait_or_give_up, 2);
	start_and_join(lock_in_order, THREADS);
	start_and_join(lock_behind_gate, THREADS);
	start_and_join(lock_by_turns, THREADS);
}
