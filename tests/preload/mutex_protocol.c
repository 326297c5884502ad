/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Priority inheritance and priority ceilings, with condition variables. */
#include "expect.h"

enum { WORKERS = 8, ROUNDS = 2000 };

static pthread_mutex_t m;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter, items, taken;
static int done;

static void make(int protocol, int type)
{
	pthread_mutexattr_t attr;

	EQ(pthread_mutexattr_init(&attr), 0);
	EQ(pthread_mutexattr_settype(&attr, type), 0);
	EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);
	RET(pthread_mutex_init(&m, &attr), 0);
	EQ(pthread_mutexattr_destroy(&attr), 0);
}

static void *adder(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		RET(pthread_mutex_lock(&m), 0);
		counter++;
		if (i % 256 == 0)
			sched_yield();
		RET(pthread_mutex_unlock(&m), 0);
	}
	return arg;
}

static void *consumer(void *arg)
{
	RET(pthread_mutex_lock(&m), 0);
	for (;;) {
		while (!items && !done)
			RET(pthread_cond_wait(&cond, &m), 0);
		if (!items)
			break;
		items--;
		taken++;
	}
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

/* Signals with and without the mutex held. */
static void test_cond(void)
{
	pthread_t threads[WORKERS];

	items = taken = done = 0;
	start(threads, WORKERS, consumer);
	for (int i = 0; i < ROUNDS; i++) {
		RET(pthread_mutex_lock(&m), 0);
		items++;
		if (i & 1)
			RET(pthread_cond_signal(&cond), 0);
		RET(pthread_mutex_unlock(&m), 0);
		if (!(i & 1))
			RET(pthread_cond_signal(&cond), 0);
	}
	RET(pthread_mutex_lock(&m), 0);
	done = 1;
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_mutex_unlock(&m), 0);
	finish(threads, WORKERS);
	EQ(taken, ROUNDS);
}

static void test_contended(void)
{
	counter = 0;
	run(WORKERS, adder);
	EQ(counter, WORKERS * ROUNDS);
}

static int timedlock_soon(pthread_mutex_t *mutex)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 20);
	int ret = pthread_mutex_timedlock(mutex, &t);

	if (ret == ETIMEDOUT)
		EXPECT(reached(CLOCK_REALTIME, t));
	return ret;
}

static void test_inherit(void)
{
	struct timespec t;

	make(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_NORMAL);
	RET(pthread_mutex_lock(&m), 0);
	EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	EQ(other_mutex(timedlock_soon, &m), ETIMEDOUT);
	t = in_ms(CLOCK_REALTIME, 20);
	RET(pthread_cond_timedwait(&cond, &m, &t), ETIMEDOUT);
	EXPECT(reached(CLOCK_REALTIME, t));
	EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	RET(pthread_mutex_unlock(&m), 0);
	test_contended();
	test_cond();
	RET(pthread_mutex_destroy(&m), 0);

	make(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_RECURSIVE);
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	EQ(other_mutex(pthread_mutex_unlock, &m), EPERM);
	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_mutex_unlock(&m), EPERM);
	test_contended();
	RET(pthread_mutex_destroy(&m), 0);

	make(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ERRORCHECK);
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_lock(&m), EDEADLK);
	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_mutex_destroy(&m), 0);
}

/* Without the right to raise its priority a thread cannot take the mutex. */
static void test_protect(void)
{
	int ceiling = -1, ret;

	make(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_NORMAL);
	EQ(pthread_mutex_getprioceiling(&m, &ceiling), 0);
	EXPECT(ceiling >= sched_get_priority_min(SCHED_FIFO));
	EXPECT(ceiling <= sched_get_priority_max(SCHED_FIFO));
	ret = pthread_mutex_lock(&m);
	if (ret == 0) {
		EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
		RET(pthread_mutex_unlock(&m), 0);
		test_contended();
		test_cond();
	} else {
		printf("priority ceiling: lock gave %s, exclusion not tried\n",
		       strerror(ret));
		EXPECT(ret == EPERM || ret == EINVAL);
	}
	RET(pthread_mutex_destroy(&m), 0);
}

int main(void)
{
	test_inherit();
	test_protect();
	return 0;
}
