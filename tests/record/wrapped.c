// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Threads that wait for a lock which all take by the function take(), and threads that wait for
 * one which all take in the function in_one(). Each twice: after the first time it can be known
 * that take() returns while the lock is held, and in_one() does not. Nor does in_two(), in which
 * a thread waits for a second lock while it holds the first.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 6

pthread_mutex_t by_function = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t in_function = PTHREAD_MUTEX_INITIALIZER;
static volatile int calls;
/* Steps; the first one with two locks. */
#define STEPS 6
#define PAIRS 4
static atomic_int step, turn = -1;
/* Of each step's threads that are about to wait; and about to wait for the second one of two. */
static atomic_int waits[STEPS][THREADS], waits_inside[STEPS][THREADS];
/* Each thread has two of its own, so that all threads wait for the second one. */
static pthread_mutex_t outer[THREADS], inner[THREADS];
static __thread long mine, now;

__attribute__((noinline)) static void take(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	calls++;
}

__attribute__((noinline)) static void give(pthread_mutex_t *m)
{
	pthread_mutex_unlock(m);
	calls++;
}

__attribute__((noinline)) static void in_one(void)
{
	pthread_mutex_lock(&in_function);
	calls++;
	pthread_mutex_unlock(&in_function);
	calls++;
}

__attribute__((noinline)) static void first_wait(void)
{
	take(&by_function);
	give(&by_function);
	calls++;
}

__attribute__((noinline)) static void second_wait(void)
{
	take(&by_function);
	give(&by_function);
	calls++;
}

__attribute__((noinline)) static void first_call(void)
{
	in_one();
	calls++;
}

__attribute__((noinline)) static void second_call(void)
{
	in_one();
	calls++;
}

__attribute__((noinline)) static void in_two(void)
{
	pthread_mutex_lock(&outer[mine]);
	waits_inside[now][mine] = gettid();
	pthread_mutex_lock(&inner[mine]);
	calls++;
	pthread_mutex_unlock(&inner[mine]);
	calls++;
	pthread_mutex_unlock(&outer[mine]);
	calls++;
}

__attribute__((noinline)) static void first_pair(void)
{
	in_two();
	calls++;
}

__attribute__((noinline)) static void second_pair(void)
{
	in_two();
	calls++;
}

static void (*const all[])(void) = { first_wait,  first_call, second_wait,
				     second_call, first_pair, second_pair };

/* In each step all threads call the same function, while the lock is held. */
static void *waiter(void *number)
{
	mine = (long)number;
	for (now = 0; now < STEPS; now++) {
		while (step <= now || (now >= PAIRS && turn != mine))
			usleep(1000);
		waits[now][mine] = gettid();
		all[now]();
	}
	return NULL;
}

static char state_of(int id)
{
	char name[64], state = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", id);
	file = fopen(name, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d %*s %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

static void until_sleeps(atomic_int *tid)
{
	for (int seen = 0; seen < 5; usleep(1000))
		seen = *tid && state_of(*tid) == 'S' ? seen + 1 : 0;
}

__attribute__((noinline)) static void hold_long(int in)
{
	pthread_mutex_t *m = in % 2 ? &in_function : &by_function;

	take(m);
	step = in + 1;
	for (int i = 0; i < THREADS; i++)
		until_sleeps(&waits[in][i]);
	give(m);
	calls++;
}

/* One after the other: the second wait of a thread follows at once, and has no stack. */
static void hold_pairs(int in)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_lock(&outer[i]);
		pthread_mutex_lock(&inner[i]);
	}
	step = in + 1;
	for (int i = 0; i < THREADS; i++) {
		turn = i;
		until_sleeps(&waits[in][i]);
		pthread_mutex_unlock(&outer[i]);
		until_sleeps(&waits_inside[in][i]);
		pthread_mutex_unlock(&inner[i]);
	}
	turn = -1;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_init(&outer[i], NULL);
		pthread_mutex_init(&inner[i], NULL);
	}
	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, waiter, (void *)i);
	for (int i = 0; i < PAIRS; i++)
		hold_long(i);
	for (int i = PAIRS; i < STEPS; i++)
		hold_pairs(i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
