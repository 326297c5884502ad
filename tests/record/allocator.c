// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Its malloc has a mutex, as jemalloc's: the recorder's own preparations then make
 * lock calls. Two threads, 20,000 sections in all, in about half a second.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char heap[64 << 20];
static size_t used;

void *malloc(size_t size)
{
	void *p;

	pthread_mutex_lock(&heap_lock);
	p = heap + used;
	used += (size + 15) & ~(size_t)15;
	pthread_mutex_unlock(&heap_lock);
	return used <= sizeof(heap) ? p : NULL;
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size); /* never given twice: it is clear */
}

void *realloc(void *old, size_t size)
{
	void *p = malloc(size);

	return old && p ? memmove(p, old, size) : p;
}

void free(void *p)
{
	(void)p;
}

static void *work(void *unused)
{
	for (int i = 0; i < 10000; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		if (i % 100 == 0)
			usleep(5000);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	work(NULL);
	return pthread_join(thread, NULL);
}
