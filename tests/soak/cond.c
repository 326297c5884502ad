// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A soak of one condition variable: many threads wait for it and signal it, for as long as
 * is asked for. scripts/soak runs it under the interposer.
 *
 *   cond THREADS SECONDS [hog]
 *
 * One baton goes round. A thread waits until it is there and was last another's, takes
 * it, puts it back, and signals. Beside that:
 *  - one waiter in 64 has a deadline, mostly one that passes;
 *  - one giver in 64 broadcasts instead, and one in 2 signals after it has unlocked;
 *  - now and then a signal handler interrupts a thread, wherever it is;
 *  - with "hog" a real-time thread takes one CPU, then the other, for most of the time.
 *
 * A wake-up that is lost may leave all threads asleep beside the baton. But mostly another
 * thread is awake and goes on. So waits that are owed their end are counted: a signal
 * under the mutex owes one, if more threads wait than are owed already, and a wait that
 * returns is one fewer. Between two seconds that number is 0 at times, and with each lost
 * wake-up its least value rises by one.
 *
 * A slow machine is no failure. The watcher complains when, for a minute, a wait was owed
 * at all times, or nothing moved while all threads slept. It exits with 1 then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct worker {
	pthread_t id;
	_Atomic pid_t tid;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static bool there = true;	  /* under mutex: the baton */
static const struct worker *last; /* under mutex: which worker had it */
/* Under mutex: threads in a wait; of these, how many were told to leave; its least. */
static long waiting, owed, least_owed;
static atomic_bool stop;
static atomic_long moved; /* how often the baton was taken */
static atomic_long timed_out;

static struct worker *workers;
static long count;

static uint64_t draw(uint64_t *random)
{
	/* Marsaglia's xorshift, "Xorshift RNGs", 2003. */
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random >> 16;
}

static struct timespec after(long ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* The caller holds the mutex. */
static void owe(long more)
{
	owed += more;
	if (owed > waiting)
		owed = waiting;
	if (owed < least_owed)
		least_owed = owed;
}

static int wait_for(const struct timespec *until)
{
	int err;

	waiting++;
	if (until)
		err = pthread_cond_timedwait(&some, &mutex, until);
	else
		err = pthread_cond_wait(&some, &mutex);
	waiting--;
	owe(err || !owed ? 0 : -1);
	return err;
}

/* Takes the baton. False: the end has come, or the deadline. */
static bool take(const struct worker *me, uint64_t *random)
{
	bool timed = draw(random) % 64 == 0, taken;
	struct timespec until = after((long)(draw(random) % 200000));
	int err = 0;

	pthread_mutex_lock(&mutex);
	while ((!there || last == me) && !atomic_load(&stop) && !err)
		err = wait_for(timed ? &until : NULL);
	taken = there && last != me && !atomic_load(&stop);
	if (taken) {
		there = false;
		last = me;
	}
	pthread_mutex_unlock(&mutex);
	atomic_fetch_add(&timed_out, err == ETIMEDOUT);
	return taken;
}

static void give(uint64_t *random)
{
	bool late = draw(random) % 2, all = draw(random) % 64 == 0;

	pthread_mutex_lock(&mutex);
	there = true;
	if (late)
		pthread_mutex_unlock(&mutex);
	else
		owe(all ? waiting : 1);
	if (all)
		pthread_cond_broadcast(&some);
	else
		pthread_cond_signal(&some);
	if (!late)
		pthread_mutex_unlock(&mutex);
}

static void *work(void *arg)
{
	struct worker *me = arg;
	uint64_t random = (uint64_t)(me - workers) * 2654435761u + 1;

	atomic_store(&me->tid, (pid_t)syscall(SYS_gettid));
	while (!atomic_load(&stop)) {
		if (!take(me, &random))
			continue;
		atomic_fetch_add(&moved, 1);
		for (uint64_t i = draw(&random) % 2000; i; i--)
			__asm__ volatile("");
		give(&random);
	}
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
}

/* Signals one thread after another. */
static void *interrupt(void *arg)
{
	struct timespec pause = { 0, 5000000 };

	for (long i = 0; !atomic_load(&stop); i = (i + 1) % count) {
		pthread_kill(workers[i].id, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return arg;
}

static void *hog(void *arg)
{
	struct sched_param priority = { .sched_priority = 10 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct timespec start, now, pause = { 0, 5000000 };
	cpu_set_t set;

	if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
		perror("soak: hog wants to be a real-time thread");
		exit(2);
	}
	for (long i = 0; !atomic_load(&stop); i++) {
		CPU_ZERO(&set);
		CPU_SET(i % cpus, &set);
		sched_setaffinity(0, sizeof(set), &set);
		clock_gettime(CLOCK_MONOTONIC, &start);
		do {
			clock_gettime(CLOCK_MONOTONIC, &now);
		} while ((now.tv_sec - start.tv_sec) * 1000000000l +
				 now.tv_nsec - start.tv_nsec <
			 40000000l);
		nanosleep(&pause, NULL);
	}
	return arg;
}

/* Whether a worker runs, or would if it had a CPU. */
static bool anybody_runs(void)
{
	char path[64], line[512];

	for (long i = 0; i < count; i++) {
		char *state;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
			 (int)atomic_load(&workers[i].tid));
		file = fopen(path, "r");
		if (!file)
			continue;
		state = fgets(line, sizeof(line), file) ? strrchr(line, ')')
							: NULL;
		fclose(file);
		if (state && state[1] && state[2] == 'R')
			return true;
	}
	return false;
}

static void fail(const char *what, long seconds)
{
	printf("soak: %s; the baton is %sthere, taken %ld times in %ld s\n",
	       what, there ? "" : "not ", atomic_load(&moved), seconds);
	fflush(stdout);
	_exit(1);
}

/* For @seconds, and then until no failure is in sight any more. */
static void watch(long seconds)
{
	long before = -1, still = 0, behind = 0;

	for (long i = 0; i < seconds || still || behind; i++) {
		long seen;

		sleep(1);
		pthread_mutex_lock(&mutex);
		seen = atomic_load(&moved);
		behind = least_owed > 0 ? behind + 1 : 0;
		least_owed = owed;
		pthread_mutex_unlock(&mutex);
		still = seen == before ? still + 1 : 0;
		before = seen;
		if (still >= 60 && !anybody_runs())
			fail("all threads sleep", i);
		if (behind >= 60)
			fail("a wake-up was lost", i);
	}
}

static pthread_t start(void *(*what)(void *), void *arg)
{
	pthread_t id;

	if (pthread_create(&id, NULL, what, arg)) {
		fprintf(stderr, "soak: no thread\n");
		exit(2);
	}
	return id;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };
	long seconds = argc > 2 ? atol(argv[2]) : 0;
	bool hogged = argc == 4 && !strcmp(argv[3], "hog");
	pthread_t helpers[2];

	count = argc > 1 ? atol(argv[1]) : 0;
	if (count < 1 || seconds < 1 || (argc == 4 && !hogged) || argc > 4) {
		fprintf(stderr, "usage: cond THREADS SECONDS [hog]\n");
		return 2;
	}
	sigaction(SIGUSR1, &action, NULL);
	workers = calloc((size_t)count, sizeof(*workers));
	if (!workers)
		return 2;
	for (long i = 0; i < count; i++)
		workers[i].id = start(work, &workers[i]);
	helpers[0] = start(interrupt, NULL);
	if (hogged)
		helpers[1] = start(hog, NULL);
	watch(seconds);
	atomic_store(&stop, true);
	pthread_join(helpers[0], NULL);
	if (hogged)
		pthread_join(helpers[1], NULL);
	pthread_mutex_lock(&mutex);
	pthread_cond_broadcast(&some);
	pthread_mutex_unlock(&mutex);
	for (long i = 0; i < count; i++)
		pthread_join(workers[i].id, NULL);
	printf("soak: passed: %ld turns of %ld threads in %ld s, %ld "
	       "waits timed out\n",
	       atomic_load(&moved), count, seconds, atomic_load(&timed_out));
	return 0;
}
