/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where a cancellation request is heard: in a condition wait, unless the
 * thread has switched it off, and in no other lock call.
 */
#include "expect.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int tokens, cleaned;

static void own_and_unlock(void *arg)
{
	RET(pthread_mutex_trylock(&m), EBUSY);
	cleaned += arg != NULL;
	RET(pthread_mutex_unlock(&m), 0);
}

static atomic_int survived, asleep;

/* A request meets a thread that does not listen; then one that does. */
static void *deaf(void *arg)
{
	int old;

	EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
	RET(pthread_mutex_lock(&m), 0);
	asleep = 1;
	while (!tokens)
		RET(pthread_cond_wait(&cond, &m), 0);
	tokens = 0;
	RET(pthread_mutex_unlock(&m), 0);
	survived = 1;
	EQ(pthread_setcancelstate(old, NULL), 0);
	pthread_testcancel();
	return arg;
}

/* The request is there before the wait begins: it ends there, mutex in hand. */
static void *doomed(void *arg)
{
	RET(pthread_mutex_lock(&m), 0);
	pthread_cleanup_push(own_and_unlock, (void *)1);
	EQ(pthread_cancel(pthread_self()), 0);
	for (;;)
		RET(pthread_cond_wait(&cond, &m), 0);
	pthread_cleanup_pop(0);
	return arg;
}

/* No lock call is itself a cancellation point, even if it has to wait. */
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static void *not_here(void *arg)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3600 * 1000L);

	EQ(pthread_cancel(pthread_self()), 0);
	asleep = 2;
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_mutex_timedlock(&m, &t), 0);
	RET(pthread_cond_signal(&cond), 0);
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_rwlock_wrlock(&rw), 0);
	RET(pthread_rwlock_unlock(&rw), 0);
	RET(pthread_rwlock_timedrdlock(&rw, &t), 0);
	RET(pthread_rwlock_unlock(&rw), 0);
	survived = 2;
	pthread_testcancel();
	return arg;
}

static void join_cancelled(pthread_t thread)
{
	void *result;

	EQ(pthread_join(thread, &result), 0);
	EXPECT(result == PTHREAD_CANCELED);
}

int main(void)
{
	pthread_t thread;

	EQ(pthread_create(&thread, NULL, deaf, NULL), 0);
	while (!asleep)
		sched_yield();
	EQ(pthread_cancel(thread), 0);
	nap_us(20000);
	EQ(survived, 0);
	RET(pthread_mutex_lock(&m), 0);
	tokens = 1;
	RET(pthread_cond_signal(&cond), 0);
	RET(pthread_mutex_unlock(&m), 0);
	join_cancelled(thread);
	EQ(survived, 1);

	for (int i = 0; i < 100; i++) {
		EQ(pthread_create(&thread, NULL, doomed, NULL), 0);
		join_cancelled(thread);
	}
	EQ(cleaned, 100);

	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_rwlock_rdlock(&rw), 0);
	EQ(pthread_create(&thread, NULL, not_here, NULL), 0);
	while (asleep != 2)
		sched_yield();
	nap_us(20000);
	RET(pthread_mutex_unlock(&m), 0);
	nap_us(20000);
	RET(pthread_rwlock_unlock(&rw), 0);
	join_cancelled(thread);
	EQ(survived, 2);
	RET(pthread_cond_destroy(&cond), 0);
	RET(pthread_mutex_destroy(&m), 0);
	return 0;
}
