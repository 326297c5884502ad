// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Two threads take a robust mutex, a hundred times each. */
#include <pthread.h>

static pthread_mutex_t mutex;

static void *take(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attr);
	pthread_create(&thread, NULL, take, NULL);
	take(NULL);
	pthread_join(thread, NULL);
	return 0;
}
