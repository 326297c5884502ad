// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Eight threads lock a mutex once each, and wait for a condition variable while they have it.
 * Each broadcast finds all of them waiting, so that each takes the mutex back as often as the
 * main thread locks it.
 */
#include <pthread.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS	200

pthread_mutex_t herd_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t herd_cond = PTHREAD_COND_INITIALIZER;
static int round_now, waiting;

static void *wait_each_round(void *unused)
{
	pthread_mutex_lock(&herd_mutex);
	for (int i = 0; i < ROUNDS; i++) {
		__atomic_add_fetch(&waiting, 1, __ATOMIC_RELEASE);
		while (round_now == i)
			pthread_cond_wait(&herd_cond, &herd_mutex);
	}
	pthread_mutex_unlock(&herd_mutex);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, wait_each_round, NULL))
			return 1;
	}
	for (int i = 1; i <= ROUNDS; i++) {
		while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) <
		       i * THREADS)
			usleep(100);
		pthread_mutex_lock(&herd_mutex);
		round_now = i;
		pthread_cond_broadcast(&herd_cond);
		pthread_mutex_unlock(&herd_mutex);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
