// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Programs that make the recorder's hints go stale: `odd gone|stays|self|shared|waits|small`. */
#define _GNU_SOURCE
#include "asleep.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int reads, writer; /* threads that read, the thread that writes */
static int leaver_deadlocks;

static void wait_for(int *what, int value)
{
	while (__atomic_load_n(what, __ATOMIC_ACQUIRE) < value)
		usleep(100);
}

/* -- a holder that leaves the lock to another one ------------------------- */

/* The first reader leaves the lock to the other, which reads on. */
static void *first_reader(void *arg)
{
	(void)arg;
	pthread_rwlock_rdlock(&rwlock);
	__atomic_add_fetch(&reads, 1, __ATOMIC_RELEASE);
	wait_for(&writer, 1);
	await_sleep(writer);
	pthread_rwlock_unlock(&rwlock);
	if (leaver_deadlocks)
		pthread_mutex_lock(&mutex);
	pause();
	return NULL;
}

static void *second_reader(void *arg)
{
	(void)arg;
	wait_for(&reads, 1);
	pthread_rwlock_rdlock(&rwlock);
	__atomic_add_fetch(&reads, 1, __ATOMIC_RELEASE);
	wait_for(&writer, 1);
	await_sleep(writer);
	if (!leaver_deadlocks)
		pthread_mutex_lock(&mutex);
	pause();
	return NULL;
}

static int readers_and_writer(int leaver)
{
	pthread_t first, second;

	leaver_deadlocks = leaver;
	pthread_create(&first, NULL, first_reader, NULL);
	pthread_create(&second, NULL, second_reader, NULL);
	wait_for(&reads, 2);
	pthread_mutex_lock(&mutex);
	__atomic_store_n(&writer, gettid(), __ATOMIC_RELEASE);
	pthread_rwlock_wrlock(&rwlock);
	return 1;
}

/* -- a process with one thread ------------------------------------------- */

static int lock_twice(void)
{
	pthread_mutex_lock(&mutex);
	return pthread_mutex_lock(&mutex);
}

static int share(void)
{
	pthread_mutex_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	int ready[2], child;
	char byte = 0;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(shared, &attr);
	if (pipe(ready))
		return 1;
	pthread_mutex_lock(shared);
	child = fork();
	if (!child) {
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		pthread_mutex_lock(shared);
		pthread_mutex_unlock(shared);
		exit(0);
	}
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	/* glibc's word for a mutex that a thread sleeps for. */
	while (__atomic_load_n(&shared->__data.__lock, __ATOMIC_ACQUIRE) != 2)
		usleep(1000);
	pthread_mutex_unlock(shared);
	waitpid(child, NULL, 0);
	return 0;
}

/* -- waits that do not take place ----------------------------------------- */

static void unlock(void *arg)
{
	pthread_mutex_unlock(arg);
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return NULL;
}

static int refuse_and_cancel(void)
{
	struct timespec no_time = { .tv_nsec = 1000000000 };
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	if (pthread_cond_timedwait(&cond, &mutex, &no_time) != EINVAL)
		return 1;
	pthread_mutex_unlock(&mutex);
	pthread_create(&thread, NULL, wait_for_ever, NULL);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	return 0;
}

/* No more memory can be mapped by the time of the first lock call. */
static int lock_in_small_space(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	int i;

	if (setrlimit(RLIMIT_AS, &limit))
		return 1;
	for (i = 0; i < 100; i++) {
		if (pthread_mutex_lock(&mutex) || pthread_mutex_unlock(&mutex))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "gone") || !strcmp(what, "stays"))
		return readers_and_writer(!strcmp(what, "gone"));
	if (!strcmp(what, "self"))
		return lock_twice();
	if (!strcmp(what, "shared"))
		return share();
	if (!strcmp(what, "small"))
		return lock_in_small_space();
	if (!strcmp(what, "waits"))
		return refuse_and_cancel();
	return 2;
}
