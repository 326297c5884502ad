/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads that share one lock, for `lockwork compare`:
 *
 *   contend mutex THREADS INSIDE OUTSIDE [MS]
 *   contend rwlock THREADS INSIDE OUTSIDE READS [MS]
 *
 * Each thread takes the lock, computes for INSIDE nanoseconds, gives the lock back, and
 * computes for OUTSIDE nanoseconds, for MS milliseconds (300). READS percent of the
 * acquisitions of a rwlock are for reading. With an OUTSIDE like 2000r, that long on
 * average, threads compute outside for times by chance: else they fall into step.
 *
 * It ends with one line: "throughput: N /s", then CPUs used, Jain's index of the
 * threads' acquisitions, the longest wait (of each 16th acquisition), and context
 * switches.
 *
 *   cc -O2 examples/contend.c -o contend -lpthread
 *   lockwork compare --locks mutex --metric 'throughput: ([0-9]+)' -- ./contend rwlock 8 100 200 90
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct counts {
	long done;
	int64_t longest; /* ns */
} __attribute__((aligned(128)));

static pthread_mutex_t mutex __attribute__((aligned(64))) =
	PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock __attribute__((aligned(64))) =
	PTHREAD_RWLOCK_INITIALIZER;
static _Alignas(64) atomic_bool stop;
static bool is_rwlock;
static long inside, outside; /* rounds of work() */
static bool by_chance;	     /* outside */
static int reads;	     /* percent */
static pthread_barrier_t begin;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Not inlined: a copy of the loop that lies elsewhere may take twice as long a round. */
static __attribute__((noinline, aligned(64))) void work(long rounds)
{
	for (long i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

/* Marsaglia's xorshift, "Xorshift RNGs", 2003. */
static uint64_t next(uint64_t random)
{
	random ^= random << 13;
	random ^= random >> 7;
	return random ^ random << 17;
}

/*
 * About exponentially distributed, with a mean of @rounds: each bit that is not set doubles
 * how rare it is, and between two such steps all is as likely.
 */
static long rounds_by_chance(uint64_t random, long rounds)
{
	double steps = __builtin_clzll(random | 1);

	steps += (double)(uint32_t)(random * 0x9e3779b97f4a7c15ull >> 32) /
		 0x1p32;
	return (long)(steps / 1.5 * (double)rounds);
}

/* Nanoseconds of one round of work(): the least of some tries, as others may run. */
static double nanoseconds_a_round(void)
{
	double best = 1e9, tried;

	for (int i = 0; i < 50; i++) {
		int64_t start = now();

		work(100000);
		tried = (double)(now() - start) / 100000;
		if (tried < best)
			best = tried;
	}
	return best;
}

static void take_and_give(bool read)
{
	if (!is_rwlock) {
		pthread_mutex_lock(&mutex);
		work(inside);
		pthread_mutex_unlock(&mutex);
		return;
	}
	if (read)
		pthread_rwlock_rdlock(&rwlock);
	else
		pthread_rwlock_wrlock(&rwlock);
	work(inside);
	pthread_rwlock_unlock(&rwlock);
}

static void *contend(void *arg)
{
	struct counts *counts = arg;
	uint64_t random = (uintptr_t)arg | 1;

	pthread_barrier_wait(&begin);
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		int64_t start = 0, took;
		bool timed = counts->done % 16 == 0;

		random = next(random);
		if (timed)
			start = now();
		take_and_give((int)(random % 100) < reads);
		if (timed) {
			took = now() - start;
			if (took > counts->longest)
				counts->longest = took;
		}
		counts->done++;
		if (by_chance)
			random = next(random);
		work(by_chance ? rounds_by_chance(random, outside) : outside);
	}
	return NULL;
}

static double cpu_seconds(const struct rusage *used)
{
	return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
	       (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
}

static double switches(const struct rusage *used)
{
	return (double)(used->ru_nvcsw + used->ru_nivcsw);
}

static void print(const struct counts *counts, long threads, double seconds,
		  const struct rusage *before)
{
	struct rusage after;
	double sum = 0, squares = 0, longest = 0;

	getrusage(RUSAGE_SELF, &after);
	for (long i = 0; i < threads; i++) {
		double done = (double)counts[i].done;

		sum += done;
		squares += done * done;
		if ((double)counts[i].longest > longest)
			longest = (double)counts[i].longest;
	}
	printf("throughput: %.0f /s, %.2f CPUs, Jain %.3f, longest wait "
	       "%.1f ms, %.0f switches/s\n",
	       sum / seconds,
	       (cpu_seconds(&after) - cpu_seconds(before)) / seconds,
	       squares > 0 ? sum * sum / (squares * (double)threads) : 0,
	       longest / 1e6, (switches(&after) - switches(before)) / seconds);
}

static int run(long threads, long ms)
{
	pthread_t *ids = calloc((size_t)threads, sizeof(*ids));
	struct counts *counts = aligned_alloc(128, sizeof(*counts) * threads);
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
	struct rusage before;
	int64_t start;

	if (!ids || !counts)
		return 1;
	memset(counts, 0, sizeof(*counts) * threads);
	pthread_barrier_init(&begin, NULL, (unsigned int)threads + 1);
	for (long i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, contend, &counts[i])) {
			fprintf(stderr, "contend: no thread %ld\n", i);
			return 1;
		}
	}
	pthread_barrier_wait(&begin);
	start = now();
	getrusage(RUSAGE_SELF, &before);
	nanosleep(&pause, NULL);
	atomic_store(&stop, true);
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	print(counts, threads, (double)(now() - start) / 1e9, &before);
	free(counts);
	free(ids);
	return 0;
}

/* A number from @least on; -1: it is none. @chance: it may end with an r, as *@chance says. */
static double number(const char *text, double least, bool *chance)
{
	char *end;
	double value = strtod(text, &end);

	if (chance) {
		*chance = end != text && *end == 'r';
		end += *chance;
	}
	/* A NaN is in no range. */
	return end != text && !*end && value >= least && value <= 1e9 ? value
								      : -1;
}

int main(int argc, char **argv)
{
	double threads, within, beside, ms = 300, round, share = 0;
	int given = 5;

	is_rwlock = argc > 1 && !strcmp(argv[1], "rwlock");
	given += is_rwlock;
	if (argc < given || argc > given + 1 ||
	    (!is_rwlock && strcmp(argv[1], "mutex")))
		goto usage;
	threads = number(argv[2], 1, NULL);
	within = number(argv[3], 0, NULL);
	beside = number(argv[4], 0, &by_chance);
	if (is_rwlock)
		share = number(argv[5], 0, NULL);
	if (argc > given)
		ms = number(argv[given], 1, NULL);
	if (threads < 0 || within < 0 || beside < 0 || ms < 0 || share < 0 ||
	    share > 100)
		goto usage;
	round = nanoseconds_a_round();
	inside = (long)(within / round);
	outside = (long)(beside / round);
	reads = (int)share;
	return run((long)threads, (long)ms);
usage:
	fprintf(stderr, "usage: contend mutex THREADS INSIDE OUTSIDE [MS] | "
			"contend rwlock THREADS INSIDE OUTSIDE READS [MS]\n");
	return 2;
}
