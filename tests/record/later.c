// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A thread waits for a lock 200 times alone, and then 600 times behind another waiter. So its
 * waits of later are not like the first ones, of which more are watched.
 */
#define _GNU_SOURCE
#include "asleep.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define ALONE  200
#define ROUNDS 800

pthread_mutex_t later = PTHREAD_MUTEX_INITIALIZER;

struct waiter {
	atomic_int tid, round, done;
};
static struct waiter before, behind;

static void await(atomic_int *value, int at_least)
{
	while (atomic_load(value) < at_least)
		sched_yield();
}

static void *wait_often(void *arg)
{
	struct waiter *w = arg;

	atomic_store(&w->tid, gettid());
	for (int n = 1; n <= ROUNDS; n++) {
		await(&w->round, n);
		if (w == &behind || n > ALONE) {
			pthread_mutex_lock(&later);
			pthread_mutex_unlock(&later);
		}
		atomic_store(&w->done, n);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[2];

	pthread_create(&thread[0], NULL, wait_often, &before);
	pthread_create(&thread[1], NULL, wait_often, &behind);
	await(&before.tid, 1);
	await(&behind.tid, 1);
	for (int n = 1; n <= ROUNDS; n++) {
		pthread_mutex_lock(&later);
		atomic_store(&before.round, n);
		if (n > ALONE)
			await_sleep(atomic_load(&before.tid));
		atomic_store(&behind.round, n);
		await_sleep(atomic_load(&behind.tid));
		pthread_mutex_unlock(&later);
		await(&before.done, n);
		await(&behind.done, n);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
