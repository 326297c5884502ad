/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Locks at the end of a thread: in key destructors to the last iteration, in
 * thread_local destructors, in cleanup handlers, and after main has left by
 * pthread_exit.
 */
#include "expect.h"

enum { THREADS = 400, WAVE = 16, ITERATIONS = 4 };

/* What C++ compilers call for a thread_local object with a destructor. */
extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_key_t first, last, mains;
static long by_key, by_local, by_cleanup, by_main;

static void use(long *counter)
{
	struct timespec past = { 1, 0 };
	int ret;

	RET(pthread_mutex_lock(&m), 0);
	++*counter;
	ret = pthread_cond_timedwait(&cond, &m, &past);
	EXPECT(ret == ETIMEDOUT || ret == 0);
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_rwlock_wrlock(&rw), 0);
	RET(pthread_rwlock_unlock(&rw), 0);
	RET(pthread_rwlock_rdlock(&rw), 0);
	RET(pthread_rwlock_unlock(&rw), 0);
}

/* Comes back until glibc gives up: four times. */
static void key_destructor(void *value)
{
	use(&by_key);
	EQ(pthread_setspecific((intptr_t)value & 1 ? first : last, value), 0);
}

static void local_destructor(void *arg)
{
	use(arg);
}

static void cleanup(void *arg)
{
	RET(pthread_mutex_unlock(&m), 0);
	use(arg);
}

static void *body(void *arg)
{
	EQ(pthread_setspecific(first, (void *)1), 0);
	EQ(pthread_setspecific(last, (void *)2), 0);
	EQ(__cxa_thread_atexit_impl(local_destructor, &by_local, &__dso_handle),
	   0);
	RET(pthread_mutex_lock(&m), 0);
	pthread_cleanup_push(cleanup, &by_cleanup);
	if ((intptr_t)arg & 1)
		pthread_exit(NULL);
	pthread_cleanup_pop(1);
	return NULL;
}

static void *outlives_main(void *main_thread)
{
	pthread_t threads[WAVE];

	for (int i = 0; i < THREADS / WAVE; i++) {
		start(threads, WAVE, body);
		finish(threads, WAVE);
	}
	EQ(by_key, THREADS * 2 * ITERATIONS);
	EQ(by_local, THREADS);
	EQ(by_cleanup, THREADS);

	/* main held m until its own destructor let it go */
	EQ(pthread_join(*(pthread_t *)main_thread, NULL), 0);
	use(&by_main);
	EQ(by_main, 3);
	exit(0);
}

static void main_destructor(void *arg)
{
	RET(pthread_mutex_unlock(&m), 0);
	use(arg);
}

int main(void)
{
	static pthread_t self;
	pthread_t thread;

	EQ(pthread_key_create(&first, key_destructor), 0);
	EQ(pthread_key_create(&last, key_destructor), 0);
	EQ(pthread_key_create(&mains, main_destructor), 0);
	self = pthread_self();
	EQ(pthread_create(&thread, NULL, outlives_main, &self), 0);
	use(&by_main);
	RET(pthread_mutex_lock(&m), 0);
	EQ(pthread_setspecific(mains, &by_main), 0);
	pthread_exit(NULL);
}
