// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A thread waits for one lock while it holds another one. Its sections are long, and the only
 * sleep in them is that wait.
 */
#include <pthread.h>
#include <unistd.h>

#define ROUNDS 5

pthread_mutex_t around_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t within_mutex = PTHREAD_MUTEX_INITIALIZER;
static int begun, ended;

static void wait_for(int *what, int value)
{
	while (__atomic_load_n(what, __ATOMIC_ACQUIRE) < value)
		usleep(100);
}

static void *wait_inside(void *unused)
{
	for (int i = 1; i <= ROUNDS; i++) {
		wait_for(&begun, i);
		pthread_mutex_lock(&around_mutex);
		pthread_mutex_lock(&within_mutex);
		pthread_mutex_unlock(&within_mutex);
		pthread_mutex_unlock(&around_mutex);
		__atomic_store_n(&ended, i, __ATOMIC_RELEASE);
	}
	return unused;
}

/* glibc's word of a mutex is 2 while a thread sleeps for it. */
static int is_waited_for(pthread_mutex_t *m)
{
	return __atomic_load_n(&m->__data.__lock, __ATOMIC_ACQUIRE) == 2;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, wait_inside, NULL))
		return 1;
	for (int i = 1; i <= ROUNDS; i++) {
		pthread_mutex_lock(&within_mutex);
		__atomic_store_n(&begun, i, __ATOMIC_RELEASE);
		while (!is_waited_for(&within_mutex))
			usleep(100);
		usleep(1000);
		pthread_mutex_unlock(&within_mutex);
		wait_for(&ended, i);
	}
	pthread_join(other, NULL);
	return 0;
}
