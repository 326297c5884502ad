/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Two measurements as ratios in one interleaved run; see docs/performance.md.
 *   micro uncontended [ROUNDS]
 *   micro contended THREADS CS_NS NCS_NS [ROUNDS [SECONDS]]
 * Each round runs every contender once, in turn. KNOB=VALUE before the word
 * sets a knob of the library.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "lockwork/lockwork.h"

#define MAX_ROUNDS 100
#define PAIRS	   2000000

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static _Alignas(128) lw_mutex_t mutex = LW_MUTEX_INIT;
static _Alignas(128) lw_spinlock_t spin = LW_SPINLOCK_INIT;
static _Alignas(128) pthread_mutex_t pmutex = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(128) unsigned int bare;

static void bare_lock(void)
{
	unsigned int zero = 0;

	while (!__atomic_compare_exchange_n(&bare, &zero, 1, 0,
					    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		zero = 0;
}

static void bare_unlock(void)
{
	__atomic_store_n(&bare, 0, __ATOMIC_RELEASE);
}

/* One loop a contender: calls are direct, as a program's are. */
#define PAIR_LOOP(name, lock, unlock)              \
	static double name(void)                   \
	{                                          \
		double start = now_ns();           \
		for (int i = 0; i < PAIRS; i++) {  \
			lock;                      \
			unlock;                    \
		}                                  \
		return (now_ns() - start) / PAIRS; \
	}
PAIR_LOOP(pair_bare, bare_lock(), bare_unlock())
PAIR_LOOP(pair_mutex, lw_mutex_lock(&mutex), lw_mutex_unlock(&mutex))
PAIR_LOOP(pair_spin, lw_spin_lock(&spin), lw_spin_unlock(&spin))
PAIR_LOOP(pair_pthread, pthread_mutex_lock(&pmutex),
	  pthread_mutex_unlock(&pmutex))

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void summary(const char *name, double *v, const double *base, int n,
		    const char *unit)
{
	double ratio[MAX_ROUNDS], mean = 0, var = 0;

	for (int i = 0; i < n; i++) {
		mean += v[i] / n;
		ratio[i] = v[i] / base[i];
	}
	for (int i = 0; i < n; i++)
		var += (v[i] - mean) * (v[i] - mean) / (n > 1 ? n - 1 : 1);
	qsort(ratio, (size_t)n, sizeof(*ratio), by_value);
	printf("%-16s %10.2f %s  CV %5.1f %%  ratio %.3f (quartiles %.3f to "
	       "%.3f)\n",
	       name, mean, unit, 100 * sqrt(var) / mean, ratio[n / 2],
	       ratio[n / 4], ratio[3 * n / 4]);
}

static void *sleeper(void *unused)
{
	nanosleep(&(struct timespec){ 100000, 0 }, NULL);
	return unused;
}

static int uncontended(int rounds)
{
	static double t[4][MAX_ROUNDS];
	pthread_t other;

	/* Two threads, or glibc leaves its atomics out. */
	pthread_create(&other, NULL, sleeper, NULL);
	for (int r = -1; r < rounds; r++) {
		int i = r < 0 ? 0 : r;

		t[0][i] = pair_bare();
		t[1][i] = pair_mutex();
		t[2][i] = pair_spin();
		t[3][i] = pair_pthread();
	}
	puts("lock + unlock, uncontended; ratio to the bare pair, median of "
	     "rounds");
	summary("bare cmpxchg", t[0], t[0], rounds, "ns");
	summary("lw_mutex", t[1], t[0], rounds, "ns");
	summary("lw_spinlock", t[2], t[0], rounds, "ns");
	summary("pthread_mutex", t[3], t[0], rounds, "ns");
	return 0;
}

/* -- contended ----------------------------------------------------------- */

static long cs_loops, ncs_loops;
static int stop;
static long in_lock;

static void burn(long loops)
{
	for (long i = 0; i < loops; i++)
		__asm__ __volatile__("" ::: "memory");
}

static long loops_for(double ns)
{
	double start = now_ns();

	burn(20000000);
	return (long)(ns * 20000000 / (now_ns() - start));
}

struct worker {
	pthread_t thread;
	int use_pthread;
	long ops;
	double longest;
	char pad[128];
};

static void *work(void *arg)
{
	struct worker *w = arg;
	long n = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		/* Every wait is timed: the contenders pay the same. */
		double start = now_ns(), waited;

		if (w->use_pthread)
			pthread_mutex_lock(&pmutex);
		else
			lw_mutex_lock(&mutex);
		waited = now_ns() - start;
		in_lock++;
		burn(cs_loops);
		if (w->use_pthread)
			pthread_mutex_unlock(&pmutex);
		else
			lw_mutex_unlock(&mutex);
		if (waited > w->longest)
			w->longest = waited;
		n++;
		burn(ncs_loops);
	}
	w->ops = n;
	return NULL;
}

struct result {
	double mops, jain, longest_ms, cpu_us_per_op;
};

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static struct result run(int threads, int use_pthread, double seconds)
{
	struct worker *w = calloc((size_t)threads, sizeof(*w));
	struct result r = { 0 };
	double sum = 0, squares = 0, cpu = cpu_seconds(), start = now_ns();

	stop = 0;
	in_lock = 0;
	for (int i = 0; i < threads; i++) {
		w[i].use_pthread = use_pthread;
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	nanosleep(&(struct timespec){ (time_t)seconds,
				      (long)(fmod(seconds, 1) * 1e9) },
		  NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < threads; i++) {
		pthread_join(w[i].thread, NULL);
		sum += (double)w[i].ops;
		squares += (double)w[i].ops * (double)w[i].ops;
		r.longest_ms = fmax(r.longest_ms, w[i].longest / 1e6);
	}
	if (in_lock != (long)sum) {
		fprintf(stderr, "mutual exclusion lost\n");
		exit(1);
	}
	r.mops = sum / (now_ns() - start) * 1e3;
	r.jain = sum * sum / (threads * squares);
	r.cpu_us_per_op = (cpu_seconds() - cpu) * 1e6 / sum;
	free(w);
	return r;
}

static int contended(int threads, double cs, double ncs, int rounds, double s)
{
	static double mops[2][MAX_ROUNDS], wait[2][MAX_ROUNDS];
	double jain[2] = { 0 }, cpu[2] = { 0 }, worst[2] = { 0 };
	const char *names[] = { "pthread_mutex", "lw_mutex" };

	cs_loops = loops_for(cs);
	ncs_loops = loops_for(ncs);
	for (int r = -1; r < rounds; r++) {
		for (int k = 0; k < 2; k++) {
			struct result x = run(threads, !k, s);
			int i = r < 0 ? 0 : r;

			if (r < 0)
				continue;
			mops[k][i] = x.mops;
			wait[k][i] = x.longest_ms;
			jain[k] += x.jain / rounds;
			cpu[k] += x.cpu_us_per_op / rounds;
			worst[k] = fmax(worst[k], x.longest_ms);
		}
	}
	printf("%d threads, %.0f ns inside, %.0f ns outside; ratio to "
	       "pthread_mutex\n",
	       threads, cs, ncs);
	for (int k = 0; k < 2; k++)
		summary(names[k], mops[k], mops[0], rounds, "Mops/s");
	for (int k = 0; k < 2; k++)
		printf("%-16s Jain %.3f  longest wait %.1f ms (each round's: "
		       "ratio below)  CPU %.3f us/op\n",
		       names[k], jain[k], worst[k], cpu[k]);
	for (int k = 0; k < 2; k++)
		summary(names[k], wait[k], wait[0], rounds, "ms longest");
	return 0;
}

int main(int argc, char **argv)
{
	int rounds;

	for (char *equals; argc > 1 && (equals = strchr(argv[1], '='));
	     argc--) {
		*equals = '\0';
		if (lw_set_knob(argv[1], equals + 1)) {
			fprintf(stderr, "micro: no knob %s with value %s\n",
				argv[1], equals + 1);
			return 2;
		}
		argv++;
	}
	if (argc >= 2 && !strcmp(argv[1], "uncontended")) {
		rounds = argc > 2 ? atoi(argv[2]) : 21;
		if (rounds >= 1 && rounds <= MAX_ROUNDS)
			return uncontended(rounds);
	}
	if (argc >= 5 && !strcmp(argv[1], "contended")) {
		int threads = atoi(argv[2]);

		rounds = argc > 5 ? atoi(argv[5]) : 7;
		if (threads >= 1 && rounds >= 1 && rounds <= MAX_ROUNDS)
			return contended(threads, atof(argv[3]), atof(argv[4]),
					 rounds,
					 argc > 6 ? atof(argv[6]) : 0.5);
	}
	fprintf(stderr, "usage: micro uncontended [ROUNDS 1-100]\n"
			"       micro contended THREADS CS_NS NCS_NS [ROUNDS "
			"[SECONDS]]\n");
	return 2;
}
