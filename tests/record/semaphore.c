// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Three threads take turns by a semaphore, which each holds for a while. Inside of it each takes a
 * mutex, which is never contended. The first thread waits for their ends, and prints how many
 * nanoseconds they have waited.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define TURNS	5
#define TURN_US 50000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static long
	waited; /* ns, by the threads that take turns; the semaphore guards it */

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void *take_turns(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		long since = now();

		sem_wait(&semaphore);
		waited += now() - since;
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		usleep(TURN_US);
		sem_post(&semaphore);
		usleep(1);
	}
	return arg;
}

int main(void)
{
	pthread_t thread[THREADS];

	sem_init(&semaphore, 0, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, take_turns, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%ld\n", waited);
	return 0;
}
