/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The public interface of the library, as a C program uses it. Without an
 * argument it tests each call; with "numa" it does so over the mutexes' other
 * queue; with another one it shows what control.c says, or it deadlocks as
 * deadlock.c says, or it misuses a mutex in that way and prints the mutex's address
 * and its own thread id first.
 */
#define _GNU_SOURCE
#include "expect.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef ROUNDS /* an emulated CPU makes fewer */
#define ROUNDS 20000
#endif

enum { THREADS = 8 };

static lw_mutex_t mutex = LW_MUTEX_INIT;
static lw_spinlock_t spin = LW_SPINLOCK_INIT;
static lw_rwlock_t rw = LW_RWLOCK_INIT;
static lw_spin_rwlock_t spin_rw = LW_SPIN_RWLOCK_INIT;
static long counters[4], pair[2], spin_pair[2];

static void *stress(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		lw_mutex_lock(&mutex);
		counters[0]++;
		lw_mutex_unlock(&mutex);
		if (arg && i % 64 == 0)
			lw_spin_set_mode((enum lw_spin_mode)(i / 64 % 3));
		lw_spin_lock(&spin);
		counters[1]++;
		lw_spin_unlock(&spin);
		if (i % 8 == 0) {
			lw_write_lock(&rw);
			counters[2]++;
			pair[0]++;
			pair[1]++;
			lw_write_unlock(&rw);
			lw_spin_write_lock(&spin_rw);
			counters[3]++;
			spin_pair[0]++;
			spin_pair[1]++;
			lw_spin_write_unlock(&spin_rw);
		} else {
			lw_read_lock(&rw);
			EXPECT(pair[0] == pair[1]);
			lw_read_unlock(&rw);
			lw_spin_read_lock(&spin_rw);
			EXPECT(spin_pair[0] == spin_pair[1]);
			lw_spin_read_unlock(&spin_rw);
		}
	}
	return NULL;
}

static void *tries_fail(void *unused)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 20000000; /* may be more than a second: allowed */
	errno = 77;
	EXPECT(!lw_mutex_trylock(&mutex));
	EXPECT(!lw_mutex_timedlock(&mutex, &until));
	EXPECT(!lw_spin_trylock(&spin));
	EXPECT(!lw_write_trylock(&rw));
	EXPECT(!lw_read_trylock(&rw));
	EXPECT(!lw_spin_write_trylock(&spin_rw));
	EXPECT(!lw_spin_read_trylock(&spin_rw));
	EXPECT(errno == 77);
	return unused;
}

static void in_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, body, arg));
	pthread_join(thread, NULL);
}

static void test_calls(void)
{
	struct timespec past = { 0, 0 };

	lw_mutex_lock(&mutex);
	lw_spin_lock(&spin);
	lw_write_lock(&rw);
	lw_spin_write_lock(&spin_rw);
	in_thread(tries_fail, NULL);
	lw_spin_write_unlock(&spin_rw);
	lw_write_unlock(&rw);
	lw_spin_unlock(&spin);
	lw_mutex_unlock(&mutex);

	EXPECT(lw_spin_set_mode((enum lw_spin_mode)(LW_SPIN_AUTO + 1)) ==
	       EINVAL);
	EXPECT(lw_spin_set_mode(LW_SPIN_AUTO) == 0);

	EXPECT(lw_mutex_trylock(&mutex));
	lw_mutex_unlock(&mutex);
	EXPECT(lw_mutex_timedlock(&mutex,
				  &past)); /* free: no matter how late */
	lw_mutex_unlock(&mutex);
	EXPECT(lw_spin_trylock(&spin));
	lw_spin_unlock(&spin);
	EXPECT(lw_read_trylock(&rw) && lw_read_trylock(&rw));
	EXPECT(!lw_write_trylock(&rw));
	lw_read_unlock(&rw);
	lw_read_unlock(&rw);
	EXPECT(lw_write_trylock(&rw));
	lw_write_unlock(&rw);
	EXPECT(lw_spin_read_trylock(&spin_rw) &&
	       lw_spin_read_trylock(&spin_rw));
	EXPECT(!lw_spin_write_trylock(&spin_rw));
	lw_spin_read_unlock(&spin_rw);
	lw_spin_read_unlock(&spin_rw);
	EXPECT(lw_spin_write_trylock(&spin_rw));
	lw_spin_write_unlock(&spin_rw);
	lw_mutex_destroy(&mutex);

	EXPECT(lw_set_knob("no_such_knob", "1") == ENOENT);
	EXPECT(lw_set_knob("spin_budget", "-1") == ERANGE);
	EXPECT(lw_set_knob("spin_budget", "99999999999") == ERANGE);
	EXPECT(lw_set_knob("spin_budget", "") == ERANGE);
	EXPECT(lw_set_knob("spin_budget", "200") == 0);
}

static void test_threads(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&threads[i], NULL, stress, (void *)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT(counters[0] == THREADS * ROUNDS);
	EXPECT(counters[1] == THREADS * ROUNDS);
	EXPECT(counters[2] == THREADS * ROUNDS / 8);
	EXPECT(counters[3] == THREADS * ROUNDS / 8);
}

/* A child goes on with what its thread held. */
static void test_fork(void)
{
	int status;
	pid_t pid;

	lw_mutex_lock(&mutex);
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		lw_mutex_unlock(&mutex);
		lw_mutex_lock(&mutex);
		lw_mutex_unlock(&mutex);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	lw_mutex_unlock(&mutex);
}

/* Somebody has waited by now, or numa.c has chosen. */
static void test_queue_is_chosen(enum lw_queue queue, enum lw_queue other)
{
	EXPECT(lw_set_queue(queue) == 0);
	EXPECT(lw_set_queue(other) == EBUSY);
	EXPECT(lw_set_queue((enum lw_queue)77) == EINVAL);
	EXPECT(lw_set_queue(queue) == 0);
}

static void test_all(void)
{
	test_calls();
	test_threads();
	test_fork();
	test_fork_handler();
	test_no_deadlock();
	test_cond();
	test_rwlock();
	test_stopped();
}

static void *unlock_it(void *unused)
{
	lw_mutex_unlock(&mutex);
	return unused;
}

static void misuse(const char *how)
{
	printf("%p %d\n", (void *)&mutex, (int)gettid());
	fflush(stdout);
	lw_mutex_lock(&mutex);
	if (!strcmp(how, "relock"))
		lw_mutex_lock(&mutex);
	else if (!strcmp(how, "destroy"))
		lw_mutex_destroy(&mutex);
	else if (!strcmp(how, "foreign-unlock"))
		in_thread(unlock_it, NULL);
	lw_mutex_unlock(&mutex);
	if (!strcmp(how, "unlock-free"))
		lw_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "numa")) {
		choose_numa();
		test_queue_is_chosen(LW_QUEUE_NUMA_OSQ, LW_QUEUE_OSQ);
		test_all();
		test_numa();
		return 0;
	}
	if (argc > 1) {
		if (!report(argv[1]) && !deadlock(argv[1]))
			misuse(argv[1]);
		return 0;
	}
	test_control();
	test_sleeps();
	test_all();
	test_queue_is_chosen(LW_QUEUE_OSQ, LW_QUEUE_NUMA_OSQ);
	return 0;
}
