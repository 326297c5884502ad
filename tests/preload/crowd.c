/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Two thousand threads: one mutex, one barrier made of a condition variable,
 * one read/write lock; and threads with the smallest stack there may be.
 */
#include "expect.h"

enum { CROWD = 2000, LAPS = 5 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int arrived, generation, crowd;
static long counter, rw_counter;

static void barrier(void)
{
	int mine;

	RET(pthread_mutex_lock(&m), 0);
	mine = generation;
	if (++arrived == crowd) {
		arrived = 0;
		generation++;
		RET(pthread_cond_broadcast(&turned), 0);
	}
	while (generation == mine)
		RET(pthread_cond_wait(&turned, &m), 0);
	RET(pthread_mutex_unlock(&m), 0);
}

static void *body(void *arg)
{
	for (int i = 0; i < LAPS; i++) {
		barrier();
		for (int k = 0; k < 4; k++) {
			RET(pthread_mutex_lock(&m), 0);
			counter++;
			RET(pthread_mutex_unlock(&m), 0);
		}
		RET(pthread_rwlock_rdlock(&rw), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
		RET(pthread_rwlock_wrlock(&rw), 0);
		rw_counter++;
		RET(pthread_rwlock_unlock(&rw), 0);
	}
	return arg;
}

static void gather(int n, size_t stack)
{
	static pthread_t threads[CROWD];
	pthread_attr_t attr;

	crowd = n;
	counter = rw_counter = generation = 0;
	EQ(pthread_attr_init(&attr), 0);
	EQ(pthread_attr_setstacksize(&attr, stack), 0);
	for (int i = 0; i < n; i++)
		EQ(pthread_create(&threads[i], &attr, body, NULL), 0);
	finish(threads, n);
	EQ(pthread_attr_destroy(&attr), 0);
	EQ(generation, LAPS);
	EQ(counter, (long)n * LAPS * 4);
	EQ(rw_counter, (long)n * LAPS);
}

int main(void)
{
	STAGE(0);
	gather(64, PTHREAD_STACK_MIN);
	STAGE(1);
	gather(CROWD, 65536);
	return 0;
}
