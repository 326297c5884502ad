/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A cancelled wait has the mutex again, of whatever kind that is. */
#include "expect.h"

static pthread_mutex_t m;
static pthread_cond_t cond;
static int waiting, cleaned, way;

static void own_and_unlock(void *arg)
{
	EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	cleaned++;
	RET(pthread_mutex_unlock(&m), 0);
	(void)arg;
}

static void *waiter(void *arg)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3600 * 1000L);
	struct timespec u = in_ms(CLOCK_MONOTONIC, 3600 * 1000L);

	RET(pthread_mutex_lock(&m), 0);
	pthread_cleanup_push(own_and_unlock, NULL);
	waiting = 1;
	for (;;) {
		if (way == 0)
			RET(pthread_cond_wait(&cond, &m), 0);
		else if (way == 1)
			RET(pthread_cond_timedwait(&cond, &m, &t), 0);
		else
			RET(pthread_cond_clockwait(&cond, &m, CLOCK_MONOTONIC,
						   &u),
			    0);
	}
	pthread_cleanup_pop(0);
	return arg;
}

/* Once the mutex is free the waiter is on its list, asleep or about to be. */
static void cancel_one(void)
{
	pthread_t thread;
	void *result;
	int there = 0;

	waiting = cleaned = 0;
	EQ(pthread_create(&thread, NULL, waiter, NULL), 0);
	while (!there) {
		RET(pthread_mutex_lock(&m), 0);
		there = waiting;
		RET(pthread_mutex_unlock(&m), 0);
		sched_yield();
	}
	EQ(pthread_cancel(thread), 0);
	EQ(pthread_join(thread, &result), 0);
	EXPECT(result == PTHREAD_CANCELED);
	EQ(cleaned, 1);
}

static void cancel_all(const pthread_mutexattr_t *attr)
{
	RET(pthread_mutex_init(&m, attr), 0);
	RET(pthread_cond_init(&cond, NULL), 0);
	for (int i = 0; i < 60; i++) {
		STAGE(i);
		way = i % 3;
		cancel_one();
	}
	RET(pthread_cond_destroy(&cond), 0);
	RET(pthread_mutex_destroy(&m), 0);
}

int main(void)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL,
				     PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK,
				     PTHREAD_MUTEX_ADAPTIVE_NP };

	for (int i = 0; i < LEN(types) * 4; i++) {
		pthread_mutexattr_t attr;

		EQ(pthread_mutexattr_init(&attr), 0);
		EQ(pthread_mutexattr_settype(&attr, types[i / 4]), 0);
		if (i % 4 == 1)
			EQ(pthread_mutexattr_setprotocol(&attr,
							 PTHREAD_PRIO_INHERIT),
			   0);
		if (i % 4 == 2)
			EQ(pthread_mutexattr_setrobust(&attr,
						       PTHREAD_MUTEX_ROBUST),
			   0);
		if (i % 4 == 3)
			EQ(pthread_mutexattr_setpshared(&attr,
							PTHREAD_PROCESS_SHARED),
			   0);
		cancel_all(&attr);
		EQ(pthread_mutexattr_destroy(&attr), 0);
	}
	return 0;
}
