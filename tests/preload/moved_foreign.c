/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A broadcast moves the waiters to the mutex's list, and then libc's own code unlocks the
 * mutex: by a wait for a condition variable that processes share, or because it got past
 * any interposer. The waiters get the mutex nonetheless, one after the other.
 */
#include "expect.h"
#include <dlfcn.h>

enum { WAITERS = 3 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begin = PTHREAD_COND_INITIALIZER, shared;
static int waiting, begun, done;

static void wait_for_begin(void)
{
	RET(pthread_mutex_lock(&m), 0);
	waiting++;
	while (!begun)
		RET(pthread_cond_wait(&begin, &m), 0);
}

/* The last wakes the others, whose waits let libc's own code unlock. */
static void meet(void)
{
	if (++done == WAITERS + 1)
		RET(pthread_cond_broadcast(&shared), 0);
	while (done <= WAITERS)
		RET(pthread_cond_wait(&shared, &m), 0);
}

static void *wait_and_meet(void *arg)
{
	(void)arg;
	wait_for_begin();
	meet();
	RET(pthread_mutex_unlock(&m), 0);
	return NULL;
}

static void *wait_only(void *arg)
{
	(void)arg;
	wait_for_begin();
	done++;
	RET(pthread_mutex_unlock(&m), 0);
	return NULL;
}

/* They wait, and most likely they are asleep. */
static void start_waiters(pthread_t *threads, void *(*body)(void *))
{
	waiting = begun = done = 0;
	start(threads, WAITERS, body);
	RET(pthread_mutex_lock(&m), 0);
	while (waiting < WAITERS) {
		RET(pthread_mutex_unlock(&m), 0);
		nap_us(1000);
		RET(pthread_mutex_lock(&m), 0);
	}
	RET(pthread_mutex_unlock(&m), 0);
	nap_us(20000);
}

static void make_shared(void)
{
	pthread_condattr_t attr;

	RET(pthread_condattr_init(&attr), 0);
	RET(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	RET(pthread_cond_init(&shared, &attr), 0);
	RET(pthread_condattr_destroy(&attr), 0);
}

static void *symbol_of(void *libc, const char *name)
{
	void *symbol = dlsym(libc, name);

	EXPECT(symbol);
	return symbol;
}

int main(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY);
	int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
	pthread_t threads[WAITERS];

	EXPECT(libc);
	lock = (int (*)(pthread_mutex_t *))symbol_of(libc,
						     "pthread_mutex_lock");
	unlock = (int (*)(pthread_mutex_t *))symbol_of(libc,
						       "pthread_mutex_unlock");
	make_shared();

	/* First: nothing shows yet that libc's own code uses the mutex. */
	start_waiters(threads, wait_only);
	RET(lock(&m), 0);
	begun = 1;
	RET(pthread_cond_broadcast(&begin), 0);
	RET(unlock(&m), 0);
	finish(threads, WAITERS);
	EQ(done, WAITERS);

	start_waiters(threads, wait_and_meet);
	RET(pthread_mutex_lock(&m), 0);
	begun = 1;
	RET(pthread_cond_broadcast(&begin), 0);
	meet();
	RET(pthread_mutex_unlock(&m), 0);
	finish(threads, WAITERS);
	EQ(done, WAITERS + 1);
	return 0;
}
