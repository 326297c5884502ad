// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Two threads take one lock inside another one, in every second section of that, and alone.
 * A profile must say how often.
 */
#include <pthread.h>

#define ROUNDS 20000

pthread_mutex_t outer_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t inner_mutex = PTHREAD_MUTEX_INITIALIZER;

static void work(int loops)
{
	for (int i = 0; i < loops; i++)
		__asm__ volatile("");
}

static void *run(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&outer_mutex);
		if (i % 2) {
			pthread_mutex_lock(&inner_mutex);
			work(200);
			pthread_mutex_unlock(&inner_mutex);
		}
		work(800);
		pthread_mutex_unlock(&outer_mutex);
		work(400);
		pthread_mutex_lock(&inner_mutex);
		work(100);
		pthread_mutex_unlock(&inner_mutex);
	}
	return unused;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, run, NULL))
		return 1;
	run(NULL);
	pthread_join(other, NULL);
	return 0;
}
