/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mutexes over a numa_osq that is divided as soon as somebody waits. */
#include "check.h"

#include "knobs.h"

#include <pthread.h>
#include <string.h>

/* Past its range: a queue is long whatever stands in it. */
static void force(const char *name, u32 value)
{
	for (const struct lk_knob *k = lk_knobs; k->name; k++) {
		if (!strcmp(k->name, name))
			WRITE_ONCE(*k->value, value);
	}
}

void choose_numa(void)
{
	CHECK(lw_mutex_set_queue(LW_MUTEX_NUMA_OSQ) == 0);
	CHECK(lw_set_clusters("0-7000;7001") == NULL);
	CHECK(lw_set_knob("count_events", "1") == 0);
	/* A waiter queues at once, whoever runs where. */
	CHECK(lw_set_knob("brief_spins", "0") == 0);
	CHECK(lw_set_knob("watch_owner", "0") == 0);
	force("osq_lock_depth", ~0u);
	force("osq_keep_times", 0);
}

/* Queues, and gives up. */
static void *wait_a_while(void *mutex)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 20000000;
	CHECK(!lw_mutex_timedlock(mutex, &until));
	return NULL;
}

void check_numa(void)
{
	static lw_mutex_t mutex = LW_MUTEX_INIT;
	pthread_t thread;
	uint64_t opened;

	lw_events_reset();
	lw_mutex_lock(&mutex);
	CHECK(!pthread_create(&thread, NULL, wait_a_while, &mutex));
	pthread_join(thread, NULL);
	lw_mutex_unlock(&mutex);
	CHECK(lw_event_sum("numa_opened", &opened) == 0 && opened == 1);
	CHECK(lw_numa_divided() == 0);
}
