/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mutexes over a numa_osq that is divided as soon as somebody waits. */
#define _GNU_SOURCE
#include "expect.h"

#include "knobs.h"

#include <pthread.h>
#include <unistd.h>

void choose_numa(void)
{
	EXPECT(lw_set_queue(LW_QUEUE_NUMA_OSQ) == 0);
	EXPECT(lw_set_clusters("0-7000;7001") == NULL);
	EXPECT(lw_set_knob("count_events", "1") == 0);
	/* A waiter queues at once, wherever threads run. */
	EXPECT(lw_set_knob("brief_spins", "0") == 0);
	EXPECT(lw_set_knob("watch_owner", "0") == 0);
	/* Past their ranges: a queue is long whatever is in it. */
	WRITE_ONCE(lk_knob_osq_lock_depth, ~0u);
	WRITE_ONCE(lk_knob_osq_keep_times, 0);
}

/* Queues, and gives up. */
static void *wait_a_while(void *mutex)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 20000000;
	EXPECT(!lw_mutex_timedlock(mutex, &until));
	return NULL;
}

static void *wait(void *mutex)
{
	lw_mutex_lock(mutex);
	lw_mutex_unlock(mutex);
	return NULL;
}

static lw_cond_t cond = LW_COND_INIT;
static bool waits, go_on;

static void *come_back(void *mutex)
{
	lw_mutex_lock(mutex);
	waits = true;
	while (!go_on)
		lw_cond_wait(&cond, mutex);
	lw_mutex_unlock(mutex);
	return NULL;
}

static uint64_t opened(void)
{
	uint64_t sum;

	EXPECT(lw_event_sum("numa_opened", &sum) == 0);
	return sum;
}

/* While we hold the mutex, the thread comes to its queue, and divides it. */
static void has_divided(void)
{
	while (!opened())
		usleep(100);
}

void test_numa(void)
{
	static lw_mutex_t mutex = LW_MUTEX_INIT;
	pthread_t thread;

	lw_events_reset();
	lw_mutex_lock(&mutex);
	EXPECT(!pthread_create(&thread, NULL, wait_a_while, &mutex));
	pthread_join(thread, NULL);
	lw_mutex_unlock(&mutex);
	EXPECT(opened() == 1 && lw_numa_divided() == 0);

	lw_events_reset();
	lw_mutex_lock(&mutex);
	EXPECT(!pthread_create(&thread, NULL, wait, &mutex));
	has_divided();
	lw_mutex_unlock(&mutex);
	pthread_join(thread, NULL);

	EXPECT(!pthread_create(&thread, NULL, come_back, &mutex));
	do {
		usleep(100);
		lw_mutex_lock(&mutex);
		go_on = waits;
		if (!go_on)
			lw_mutex_unlock(&mutex);
	} while (!go_on);
	lw_events_reset();
	lw_cond_signal(&cond);
	has_divided();
	lw_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	EXPECT(lw_numa_divided() == 0);
}
