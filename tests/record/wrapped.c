// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Threads that wait for a lock which all take by the function take(), and threads that wait for
 * one which all take in the function in_one(). Each twice: after the first time it can be known
 * that take() returns while the lock is held, and in_one() does not.
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
static atomic_int tid[4][THREADS], step;

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

static void (*const all[])(void) = { first_wait, first_call, second_wait,
				     second_call };
#define STEPS 4

/* In each step all threads call the same function, while the lock is held. */
static void *waiter(void *number)
{
	for (int i = 0; i < STEPS; i++) {
		while (step <= i)
			usleep(1000);
		tid[i][(long)number] = gettid();
		all[i]();
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

static void until_all_sleep(int in)
{
	for (int i = 0; i < THREADS; i++) {
		for (int seen = 0; seen < 5; usleep(1000))
			seen = tid[in][i] && state_of(tid[in][i]) == 'S'
				       ? seen + 1
				       : 0;
	}
}

__attribute__((noinline)) static void hold_long(int in)
{
	pthread_mutex_t *m = in % 2 ? &in_function : &by_function;

	take(m);
	step = in + 1;
	until_all_sleep(in);
	give(m);
	calls++;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, waiter, (void *)i);
	for (int i = 0; i < STEPS; i++)
		hold_long(i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
