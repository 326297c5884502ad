/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A broadcast moves the waiters to the mutex's list, and then libc's own code unlocks the
 * mutex: by a wait for a condition variable that processes share, or past any interposer.
 * The waiters get the mutex nonetheless, one after the other.
 */
#include "expect.h"
#include <dlfcn.h>

enum { WAITERS = 3 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begin = PTHREAD_COND_INITIALIZER, shared;
static int waiting, begun, done;

static void *wait_for_begin(void *arg)
{
	(void)arg;
	RET(pthread_mutex_lock(&m), 0);
	waiting++;
	while (!begun)
		RET(pthread_cond_wait(&begin, &m), 0);
	done++;
	RET(pthread_cond_signal(&shared), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return NULL;
}

static void broadcast_to_all(pthread_t *threads)
{
	waiting = begun = done = 0;
	start(threads, WAITERS, wait_for_begin);
	RET(pthread_mutex_lock(&m), 0);
	while (waiting < WAITERS) {
		RET(pthread_mutex_unlock(&m), 0);
		nap_us(1000);
		RET(pthread_mutex_lock(&m), 0);
	}
	/* They are asleep, most likely. */
	RET(pthread_mutex_unlock(&m), 0);
	nap_us(20000);
	RET(pthread_mutex_lock(&m), 0);
	begun = 1;
	RET(pthread_cond_broadcast(&begin), 0);
}

static void end(pthread_t *threads)
{
	finish(threads, WAITERS);
	EQ(done, WAITERS);
}

int main(void)
{
	pthread_condattr_t attr;
	pthread_t threads[WAITERS];
	void *libc = dlopen("libc.so.6", RTLD_LAZY);
	int (*unlock)(pthread_mutex_t *);

	EXPECT(libc);
	unlock =
		(int (*)(pthread_mutex_t *))dlsym(libc, "pthread_mutex_unlock");
	EXPECT(unlock);
	RET(pthread_condattr_init(&attr), 0);
	RET(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	RET(pthread_cond_init(&shared, &attr), 0);

	broadcast_to_all(threads);
	while (done < WAITERS)
		RET(pthread_cond_wait(&shared, &m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	end(threads);

	broadcast_to_all(threads);
	RET(unlock(&m), 0);
	end(threads);
	return 0;
}
