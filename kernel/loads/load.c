// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * load KIND WORKERS SECONDS DIR: runs one load, and prints
 *
 *   total OPERATIONS max MOST min LEAST cv_permille N ns NANOSECONDS
 *
 * MOST and LEAST are those of single workers. load --list names the loads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

#define SECOND	    1000000000ull
#define MAX_WORKERS 4096u

void fail(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

const char *path_of(char name[NAME_SIZE], const struct worker *w,
		    const char *what, uint64_t id)
{
	snprintf(name, NAME_SIZE, "%s/%s.%llu", w->dir, what,
		 (unsigned long long)id);
	return name;
}

static const struct load *const all[] = { file_loads, process_loads,
					  event_loads, memory_loads };

static const struct load *find(const char *name)
{
	const struct load *load;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (load = all[i]; load->name; load++) {
			if (!strcmp(load->name, name))
				return load;
		}
	}
	return NULL;
}

static void list(void)
{
	const struct load *load;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (load = all[i]; load->name; load++)
			printf("%s\t%s\n", load->name, load->about);
	}
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

/* Of all workers; they are processes, or threads. */
static const struct load *load;
static struct worker *workers;
static uint64_t begin, end;

static void sleep_until(uint64_t when)
{
	struct timespec ts = { (time_t)(when / SECOND), (long)(when % SECOND) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	if (load->prepare)
		load->prepare(w);
	sleep_until(begin);
	while (now() < end) {
		load->once(w);
		w->done++;
	}
	return NULL;
}

static void run_processes(unsigned count)
{
	unsigned i;
	int status;

	for (i = 0; i < count; i++) {
		if (MUST(fork()) == 0) {
			work(&workers[i]);
			_exit(0);
		}
	}
	for (i = 0; i < count; i++) {
		MUST(wait(&status));
		if (status)
			exit(1);
	}
}

static void run_threads(unsigned count)
{
	pthread_t *threads = calloc(count, sizeof(*threads));
	unsigned i;

	if (!threads)
		fail("calloc");
	for (i = 0; i < count; i++) {
		errno = pthread_create(&threads[i], NULL, work, &workers[i]);
		if (errno)
			fail("pthread_create");
	}
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void report(unsigned count)
{
	uint64_t total = 0, max = 0, min = UINT64_MAX;
	double mean, squares = 0;
	unsigned i;

	for (i = 0; i < count; i++) {
		total += workers[i].done;
		if (workers[i].done > max)
			max = workers[i].done;
		if (workers[i].done < min)
			min = workers[i].done;
	}
	mean = (double)total / count;
	for (i = 0; i < count; i++) {
		double from_mean = (double)workers[i].done - mean;

		squares += from_mean * from_mean;
	}
	printf("total %llu max %llu min %llu cv_permille %.0f ns %llu\n",
	       (unsigned long long)total, (unsigned long long)max,
	       (unsigned long long)min,
	       mean > 0 ? 1000 * sqrt(squares / count) / mean : 0,
	       (unsigned long long)(end - begin));
}

int main(int argc, char **argv)
{
	unsigned count, seconds, i;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list();
		return 0;
	}
	if (argc != 5) {
		fprintf(stderr, "usage: load KIND WORKERS SECONDS DIR\n");
		return 2;
	}
	load = find(argv[1]);
	count = (unsigned)strtoul(argv[2], NULL, 10);
	seconds = (unsigned)strtoul(argv[3], NULL, 10);
	if (!load || !count || count > MAX_WORKERS || !seconds) {
		fprintf(stderr,
			"load: there is no such load, or no such number\n");
		return 2;
	}
	workers = mmap(NULL, count * sizeof(*workers), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (workers == MAP_FAILED)
		fail("mmap");
	for (i = 0; i < count; i++)
		workers[i] = (struct worker){ .id = i,
					      .count = count,
					      .dir = argv[4],
					      .fd = -1,
					      .other = -1,
					      .random = i + 1 };
	if (load->start)
		load->start(count, argv[4]);
	/* Time for all of them to be there. */
	begin = now() + SECOND / 5 + count * SECOND / 1000;
	end = begin + seconds * SECOND;
	if (load->forks)
		run_processes(count);
	else
		run_threads(count);
	report(count);
	return 0;
}
