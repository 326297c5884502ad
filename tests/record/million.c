// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * million SECONDS [THREADS [LOCKS [own]]]: threads lock random mutexes of the heap, and with `own`
 * nearly always a mutex that no other thread takes. One call in 64 is for one of 16 that all
 * take. It prints the memory that the process has, and the number of acquisitions. No test
 * runs it: docs/recording.md has what the recorder needs for it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOT 16

static pthread_mutex_t **lock;
static uint64_t locks = 1000000, threads = 1000;
static int own;
static volatile int stop;
static volatile long work;

static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void *run(void *arg)
{
	uint64_t number = (uint64_t)arg, x = number * 0x9e3779b97f4a7c15ULL + 1;
	uint64_t n = 0;

	while (!stop) {
		uint64_t random = next(&x), at = (random >> 16) % locks;
		int hot = !(random % 64);

		if (own && random % 256)
			at = at / threads * threads + number - 1;
		if (hot)
			at %= HOT;
		pthread_mutex_lock(lock[at]);
		for (int i = 0; i < (hot ? 2000 : 20); i++)
			work = i;
		pthread_mutex_unlock(lock[at]);
		if (!(++n % 4096))
			usleep(1000);
	}
	return (void *)n;
}

static void print_memory(int second)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "VmRSS", 5) || !strncmp(line, "VmHWM", 5))
			printf("%d s: %s", second, line);
	}
	fclose(file);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 10;
	uint64_t acquisitions = 0;
	pthread_t *thread;
	void *n;

	if (argc > 2)
		threads = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		locks = strtoull(argv[3], NULL, 10);
	own = argc > 4;
	if (!threads || locks < HOT || locks % threads) {
		fprintf(stderr, "million: LOCKS is no multiple of THREADS\n");
		return 2;
	}
	lock = malloc(locks * sizeof(*lock));
	thread = malloc(threads * sizeof(*thread));
	for (uint64_t i = 0; i < locks; i++) {
		lock[i] = malloc(sizeof(**lock));
		pthread_mutex_init(lock[i], NULL);
	}
	for (uint64_t i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, (void *)(i + 1));
	for (int s = 1; s <= seconds; s++) {
		sleep(1);
		if (s % 60 == 0 || s == seconds)
			print_memory(s);
	}
	stop = 1;
	for (uint64_t i = 0; i < threads; i++) {
		pthread_join(thread[i], &n);
		acquisitions += (uint64_t)n;
	}
	printf("%lu acquisitions\n", acquisitions);
	return 0;
}
