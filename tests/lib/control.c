// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What is set and asked for the whole process: knobs, clusters, events. */
#include "expect.h"

#include "events.h"
#include "knobs.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, EVENTS = 1000, FORKS = 200 };

static uint64_t sum_of(const char *name)
{
	uint64_t sum = 77;

	EXPECT(lw_event_sum(name, &sum) == 0);
	return sum;
}

static void *count(void *unused)
{
	(void)this_slot(); /* counters of its own */
	for (int i = 0; i < EVENTS; i++)
		count_event(LK_EV_numa_local);
	return unused;
}

static void count_in_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&threads[i], NULL, count, NULL));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void test_events(void)
{
	uint64_t sum = 77;
	uint32_t n;

	for (n = 0; lw_event_name(n); n++) {
		EXPECT(lw_event_help(n) && *lw_event_help(n));
		EXPECT(sum_of(lw_event_name(n)) == 0);
	}
	EXPECT(n == LK_EVENTS && !lw_event_help(n) && !lw_event_name(~0u));
	EXPECT(lw_event_sum("no_such_event", &sum) == ENOENT && sum == 77);
	count_in_threads();
	EXPECT(sum_of("numa_local") == 0);
	EXPECT(lw_set_knob("count_events", "1") == 0);
	count_in_threads();
	count_event(LK_EV_osq_cancel);
	EXPECT(sum_of("numa_local") == THREADS * EVENTS);
	EXPECT(sum_of("osq_cancel") == 1 && sum_of("numa_opened") == 0);
	lw_events_reset();
	EXPECT(sum_of("numa_local") == 0 && sum_of("osq_cancel") == 0);
	EXPECT(lw_set_knob("count_events", "0") == 0);
}

/* A knob of the locks has its range, and a value outside changes nothing. */
static void test_knobs(void)
{
	char text[16];

	for (const struct lk_knob *k = lk_knobs; k->name; k++) {
		EXPECT(*k->value == k->dflt);
		snprintf(text, sizeof(text), "%u", k->max);
		EXPECT(lw_set_knob(k->name, text) == 0 && *k->value == k->max);
		snprintf(text, sizeof(text), "%u", k->max + 1);
		EXPECT(lw_set_knob(k->name, text) == ERANGE);
		snprintf(text, sizeof(text), "%ld", (long)k->min - 1);
		EXPECT(lw_set_knob(k->name, text) == ERANGE);
		EXPECT(lw_set_knob(k->name, "on") == ERANGE);
		EXPECT(*k->value == k->max);
		snprintf(text, sizeof(text), "%u", k->dflt);
		EXPECT(lw_set_knob(k->name, text) == 0 && *k->value == k->dflt);
	}
}

static void test_clusters(void)
{
	EXPECT(lw_cluster_count() >= 1 && lw_numa_divided() == 0);
	EXPECT(lw_set_clusters("0-3,8;4-7") == NULL && lw_cluster_count() == 2);
	EXPECT(lw_set_clusters("0-3;3") != NULL && lw_cluster_count() == 2);
	EXPECT(this_cluster() < 2);
	EXPECT(lw_set_clusters("8191") == NULL && lw_cluster_count() == 1);
	EXPECT(this_cluster() == 0);
	EXPECT(lw_set_clusters(NULL) == NULL && lw_cluster_count() >= 1);
}

static void *set_clusters(void *stop)
{
	while (!READ_ONCE(*(bool *)stop))
		EXPECT(lw_set_clusters("0-8191") == NULL);
	return NULL;
}

/* A child must not wait for a thread that was at it when its parent forked. */
static void test_fork_in_between(void)
{
	bool stop = false;
	pthread_t thread;
	int status;

	EXPECT(!pthread_create(&thread, NULL, set_clusters, &stop));
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		EXPECT(pid >= 0);
		if (!pid) {
			EXPECT(lw_set_clusters("0;1") == NULL);
			EXPECT(lw_cluster_count() == 2);
			_exit(0);
		}
		EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	}
	WRITE_ONCE(stop, true);
	pthread_join(thread, NULL);
	EXPECT(lw_set_clusters("") == NULL);
}

void test_control(void)
{
	test_knobs();
	test_clusters();
	test_fork_in_between();
	test_events();
}

/* Counts, and has them printed at the end: those of the child are its own. */
static void end_with_events(void)
{
	int status;
	pid_t pid;

	EXPECT(lw_set_knob("count_events", "2") == 0);
	(void)this_slot();
	count_event(LK_EV_numa_opened);
	count_event(LK_EV_numa_opened);
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		(void)this_slot();
		count_event(LK_EV_numa_local);
		exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	count_event(LK_EV_numa_opened);
	printf("%d %d\n", (int)getpid(), (int)pid);
}

bool report(const char *what)
{
	if (!strcmp(what, "clusters")) {
		printf("%u\n", lw_cluster_count());
		return true;
	}
	if (!strcmp(what, "events")) {
		end_with_events();
		return true;
	}
	return false;
}
