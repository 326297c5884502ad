/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Condition variables for `lockwork compare`, and how often threads were switched:
 *
 *   condvar pingpong N           two threads take turns, N times each
 *   condvar queue N PAIRS SIZE   N items through a queue of SIZE; PAIRS producers
 *                                and as many consumers
 *   condvar broadcast N WAITERS  N broadcasts, each to WAITERS threads
 *
 * Each ends with one line: "throughput: N /s", then CPUs used, and context switches
 * for each turn, item or wait.
 *
 *   cc -O2 examples/condvar.c -o condvar -lpthread
 *   lockwork compare --locks mutex --metric 'throughput: ([0-9]+)' -- ./condvar queue 200000 8 16
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t first = PTHREAD_COND_INITIALIZER;
static pthread_cond_t second = PTHREAD_COND_INITIALIZER;
static long count, size, queued, put, taken, waiting, rounds;
static long turn;

static void *take_turns(void *arg)
{
	long me = (long)arg;

	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != me)
			pthread_cond_wait(me ? &second : &first, &mutex);
		turn = !me;
		pthread_cond_signal(me ? &first : &second);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* first: there is room; second: there is an item, or no more will come. */
static void *produce(void *arg)
{
	bool more = true;

	while (more) {
		pthread_mutex_lock(&mutex);
		while (queued == size && put < count)
			pthread_cond_wait(&first, &mutex);
		more = put < count;
		if (more) {
			put++;
			queued++;
			pthread_cond_signal(&second);
		}
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void *consume(void *arg)
{
	bool more = true;

	while (more) {
		pthread_mutex_lock(&mutex);
		while (!queued && taken < count)
			pthread_cond_wait(&second, &mutex);
		more = taken < count;
		if (more) {
			taken++;
			queued--;
			pthread_cond_signal(&first);
		} else {
			pthread_cond_broadcast(&first);
			pthread_cond_broadcast(&second);
		}
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

/* first: all wait; second: the broadcast. */
static void *wait_for_broadcast(void *arg)
{
	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&mutex);
		if (++waiting == size)
			pthread_cond_signal(&first);
		while (rounds == i)
			pthread_cond_wait(&second, &mutex);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void *broadcast(void *arg)
{
	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&mutex);
		while (waiting < size)
			pthread_cond_wait(&first, &mutex);
		waiting = 0;
		rounds++;
		pthread_cond_broadcast(&second);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Runs @n threads of each of both kinds, which do @things together. */
static void run(void *(*one)(void *), long n, void *(*other)(void *), long m,
		double things)
{
	pthread_t *threads = calloc((size_t)(n + m), sizeof(*threads));
	struct timespec start, end;
	struct rusage used;
	double time;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; threads && i < n + m; i++) {
		if (pthread_create(&threads[i], NULL, i < n ? one : other,
				   (void *)(i < n ? 0L : 1L))) {
			fprintf(stderr, "condvar: no thread %ld\n", i);
			exit(1);
		}
	}
	for (long i = 0; threads && i < n + m; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &used);
	time = (double)(end.tv_sec - start.tv_sec) +
	       (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	printf("throughput: %.0f /s, %.2f CPUs, %.2f switches each\n",
	       things / time,
	       (seconds(used.ru_utime) + seconds(used.ru_stime)) / time,
	       (double)(used.ru_nvcsw + used.ru_nivcsw) / things);
	free(threads);
}

int main(int argc, char **argv)
{
	long threads = argc > 3 ? atol(argv[3]) : 0;

	count = argc > 2 ? atol(argv[2]) : 0;
	if (argc == 3 && !strcmp(argv[1], "pingpong") && count > 0) {
		run(take_turns, 1, take_turns, 1, 2.0 * (double)count);
		return 0;
	}
	size = argc == 5 ? atol(argv[4]) : threads;
	if (argc == 5 && !strcmp(argv[1], "queue") && count > 0 &&
	    threads > 0 && size > 0) {
		run(produce, threads, consume, threads, (double)count);
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "broadcast") && count > 0 &&
	    threads > 0) {
		run(broadcast, 1, wait_for_broadcast, threads,
		    (double)count * (double)threads);
		return 0;
	}
	fprintf(stderr, "usage: condvar pingpong N | queue N PAIRS SIZE | "
			"broadcast N WAITERS\n");
	return 2;
}
