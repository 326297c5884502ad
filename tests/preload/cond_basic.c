/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Signal, broadcast, and what the mutex's kind means to a wait. */
#include "expect.h"

enum { WAITERS = 24 };

static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
			     PTHREAD_MUTEX_ERRORCHECK,
			     PTHREAD_MUTEX_ADAPTIVE_NP };
static pthread_mutex_t m, outside = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond;
static int waiting, tokens, taken;

static void *waiter(void *arg)
{
	RET(pthread_mutex_lock(&m), 0);
	waiting++;
	while (!tokens)
		RET(pthread_cond_wait(&cond, &m), 0);
	tokens--;
	taken++;
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

/* All n are inside the wait: they let go of the mutex only there. */
static void await(int *count, int n)
{
	for (int seen = 0; seen < n;) {
		RET(pthread_mutex_lock(&m), 0);
		seen = *count;
		RET(pthread_mutex_unlock(&m), 0);
		sched_yield();
	}
}

static void test_wakes(int hold)
{
	pthread_t threads[WAITERS];

	waiting = taken = 0;
	RET(pthread_cond_signal(&cond), 0); /* nobody there: forgotten */
	RET(pthread_cond_broadcast(&cond), 0);
	start(threads, WAITERS, waiter);
	await(&waiting, WAITERS);
	RET(pthread_mutex_destroy(&m), EBUSY); /* all of them will be back */
	for (int i = 0; i < WAITERS / 2; i++) {
		RET(pthread_mutex_lock(&m), 0);
		tokens++;
		if (hold)
			RET(pthread_cond_signal(&cond), 0);
		RET(pthread_mutex_unlock(&m), 0);
		if (!hold)
			RET(pthread_cond_signal(&cond), 0);
		if (i % 2)
			await(&taken, i + 1);
	}
	await(&taken, WAITERS / 2);
	RET(pthread_mutex_lock(&m), 0);
	tokens += WAITERS - WAITERS / 2;
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_mutex_unlock(&m), 0);
	finish(threads, WAITERS);
	EQ(taken, WAITERS);
	EQ(tokens, 0);
}

/* The mutex may be destroyed once its users are gone, and not before. */
static void test_mutex_busy(void)
{
	pthread_t thread;

	waiting = 0;
	EQ(pthread_create(&thread, NULL, waiter, NULL), 0);
	await(&waiting, 1);
	RET(pthread_mutex_lock(&m), 0);
	tokens++;
	RET(pthread_cond_signal(&cond), 0);
	RET(pthread_cond_destroy(&cond), 0); /* while it is on its way */
	RET(pthread_mutex_destroy(&m), EBUSY);
	RET(pthread_mutex_unlock(&m), 0);
	EQ(pthread_join(thread, NULL), 0);
	RET(pthread_mutex_destroy(&m), 0);
}

/* A wait that cannot give up the mutex fails, and leaves nobody behind. */
static void test_not_owner(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3600 * 1000L);

	mutex_of_type(&m, PTHREAD_MUTEX_ERRORCHECK);
	RET(pthread_cond_init(&cond, NULL), 0);
	RET(pthread_cond_wait(&cond, &m), EPERM);
	RET(pthread_cond_timedwait(&cond, &m, &t), EPERM);
	EQ(other_mutex(pthread_mutex_lock, &m), 0);
	RET(pthread_cond_wait(&cond, &m), EPERM);
	RET(pthread_mutex_init(&m, NULL), 0);
	test_wakes(1);
	RET(pthread_cond_destroy(&cond), 0);
	RET(pthread_mutex_destroy(&m), 0);
}

static atomic_int timed_out, woken;

/* Held twice; whether the wait lets go at all is not for us to say. */
static void *deep_waiter(void *arg)
{
	struct timespec t;

	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_lock(&m), 0);
	t = in_ms(CLOCK_REALTIME, 30);
	RET(pthread_cond_timedwait(&cond, &m, &t), ETIMEDOUT);
	EXPECT(reached(CLOCK_REALTIME, t));
	timed_out = 1;
	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_cond_wait(&cond, &m), 0);
	woken = 1;
	EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	RET(pthread_mutex_unlock(&m), 0);
	EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_mutex_unlock(&m), EPERM);
	EQ(other_mutex(pthread_mutex_lock, &m), 0);
	return arg;
}

static void test_recursion(void)
{
	pthread_t thread;

	mutex_of_type(&m, PTHREAD_MUTEX_RECURSIVE);
	RET(pthread_cond_init(&cond, NULL), 0);
	EQ(pthread_create(&thread, NULL, deep_waiter, NULL), 0);
	while (!woken) {
		if (timed_out)
			RET(pthread_cond_signal(&cond), 0);
		nap_us(1000);
	}
	EQ(pthread_join(thread, NULL), 0);
	RET(pthread_cond_destroy(&cond), 0);
}

/* One condition variable, one mutex after another. */
static void test_two_mutexes(void)
{
	struct timespec t;

	RET(pthread_cond_init(&cond, NULL), 0);
	RET(pthread_mutex_init(&m, NULL), 0);
	for (int i = 0; i < 4; i++) {
		pthread_mutex_t *which = i % 2 ? &m : &outside;

		RET(pthread_mutex_lock(which), 0);
		t = in_ms(CLOCK_REALTIME, 1);
		RET(pthread_cond_timedwait(&cond, which, &t), ETIMEDOUT);
		EQ(other_mutex(pthread_mutex_trylock, which), EBUSY);
		RET(pthread_mutex_unlock(which), 0);
	}
	RET(pthread_cond_destroy(&cond), 0);
	RET(pthread_mutex_destroy(&outside), 0);
}

int main(void)
{
	for (int i = 0; i < LEN(types); i++) {
		STAGE(types[i]);
		mutex_of_type(&m, types[i]);
		cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
		test_wakes(1);
		test_wakes(0);
		test_mutex_busy();
	}
	test_not_owner();
	test_recursion();
	test_two_mutexes();
	return 0;
}
