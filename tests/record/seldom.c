// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A function that locks is called often, where it waits for as long as it takes to see that, and
 * five times from elsewhere, where it waits for 50 ms more.
 */
#define _GNU_SOURCE
#include "asleep.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define ROUNDS 1000
#define EACH   200 /* every so many rounds there is a long one */

pthread_mutex_t in_both = PTHREAD_MUTEX_INITIALIZER;
static atomic_int tid, begun, done;

static __attribute__((noinline)) int take(void)
{
	pthread_mutex_lock(&in_both);
	return pthread_mutex_unlock(&in_both);
}

/* Not tail calls: these are to be on the stack. */
__attribute__((noinline)) int often(void)
{
	return take() + 1;
}

__attribute__((noinline)) int seldom(void)
{
	return take() + 2;
}

static void await(atomic_int *value, int at_least)
{
	while (atomic_load(value) < at_least)
		sched_yield();
}

static void *wait_often(void *arg)
{
	atomic_store(&tid, gettid());
	for (int n = 1; n <= ROUNDS; n++) {
		await(&begun, n);
		if (n % EACH)
			often();
		else
			seldom();
		atomic_store(&done, n);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_often, NULL);
	await(&tid, 1);
	for (int n = 1; n <= ROUNDS; n++) {
		pthread_mutex_lock(&in_both);
		atomic_store(&begun, n);
		await_sleep(atomic_load(&tid));
		if (!(n % EACH))
			usleep(50000);
		pthread_mutex_unlock(&in_both);
		await(&done, n);
	}
	pthread_join(thread, NULL);
	return 0;
}
