// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Two threads are woken by a broadcast, while their mutex is held for 100 ms more.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t taken_back = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready, go;

static void *waiter(void *arg)
{
	pthread_mutex_lock(&taken_back);
	ready++;
	while (!go)
		pthread_cond_wait(&cond, &taken_back);
	pthread_mutex_unlock(&taken_back);
	return arg;
}

/* They wait for the condition variable once the mutex is free again. */
static void lock_when_ready(void)
{
	for (;;) {
		pthread_mutex_lock(&taken_back);
		if (ready == 2)
			return;
		pthread_mutex_unlock(&taken_back);
		usleep(1000);
	}
}

int main(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, waiter, NULL);
	lock_when_ready();
	go = 1;
	pthread_cond_broadcast(&cond);
	usleep(100000);
	pthread_mutex_unlock(&taken_back);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
