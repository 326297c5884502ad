/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Timed waits: each clock, bad deadlines, and the mutex held again after. */
#include "expect.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t real = PTHREAD_COND_INITIALIZER, mono;

/* clock < 0: pthread_cond_timedwait, by the clock the object was made with. */
static int wait_until(pthread_cond_t *c, int clock, const struct timespec *t)
{
	return clock < 0 ? pthread_cond_timedwait(c, &m, t)
			 : pthread_cond_clockwait(c, &m, clock, t);
}

static void test_timeouts(pthread_cond_t *c, int how, clockid_t clock)
{
	struct timespec bad[] = { { 0, -1 },
				  { 1, 1000000000 },
				  { 4000000000, 1000000001 } };
	struct timespec negative = { -3, 0 }, past = { 1, 0 }, t;

	RET(pthread_mutex_lock(&m), 0);
	for (int ms = -20; ms <= 60; ms += 40) {
		t = in_ms(clock, ms);
		RET(wait_until(c, how, &t), ETIMEDOUT);
		EXPECT(reached(clock, t));
		EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	}
	RET(wait_until(c, how, &past), ETIMEDOUT);
	RET(wait_until(c, how, &negative), ETIMEDOUT);
	for (int i = 0; i < LEN(bad); i++) {
		RET(wait_until(c, how, &bad[i]), EINVAL);
		EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	}
	RET(pthread_cond_clockwait(c, &m, CLOCK_THREAD_CPUTIME_ID, &past),
	    EINVAL);
	EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
	RET(pthread_mutex_unlock(&m), 0);
}

static int stage, waiting;
static struct {
	pthread_cond_t *c;
	int how;
	clockid_t clock;
} ways[5];

/* A signal long before the deadline; five ways to wait. */
static void *waiter(void *arg)
{
	int way = (intptr_t)arg;
	struct timespec t = in_ms(ways[way].clock, 3600 * 1000L);

	RET(pthread_mutex_lock(&m), 0);
	waiting++;
	while (!stage)
		RET(wait_until(ways[way].c, ways[way].how, &t), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return NULL;
}

/* The timed-out waiter needs the mutex, and waits for it as long as it takes. */
static int held, back;

static void *late(void *arg)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 10);

	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_cond_timedwait(&real, &m, &t), ETIMEDOUT);
	EQ(held, 0);
	back++;
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void hold_past_deadline(void)
{
	pthread_t threads[4];

	start(threads, 4, late);
	for (int left = 4; left;) {
		RET(pthread_mutex_lock(&m), 0);
		held = 1;
		nap_us(15000);
		left = 4 - back;
		held = 0;
		RET(pthread_mutex_unlock(&m), 0);
		nap_us(1000);
	}
	finish(threads, 4);
}

static long ping, timeouts;

/* Deadlines that race with signals: nobody is lost, nobody is early. */
static void *racer(void *arg)
{
	int me = (intptr_t)arg;

	RET(pthread_mutex_lock(&m), 0);
	for (int i = 0; i < 3000; i++) {
		while (ping % 4 != me) {
			struct timespec t = in_ms(CLOCK_MONOTONIC, 0);
			int ret;

			t.tv_nsec +=
				t.tv_nsec < 999000000 ? (i % 16) * 5000 : 0;
			ret = wait_until(me & 1 ? &mono : &real,
					 CLOCK_MONOTONIC, &t);
			if (ret) {
				EQ(ret, ETIMEDOUT);
				EXPECT(reached(CLOCK_MONOTONIC, t));
				timeouts++;
			}
		}
		ping++;
		RET(pthread_cond_broadcast(&real), 0);
		RET(pthread_cond_broadcast(&mono), 0);
	}
	RET(pthread_mutex_unlock(&m), 0);
	return NULL;
}

int main(void)
{
	pthread_condattr_t attr;
	pthread_t threads[5];
	clockid_t clock;

	EQ(pthread_condattr_init(&attr), 0);
	EQ(pthread_condattr_setclock(&attr, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
	EQ(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC), 0);
	EQ(pthread_condattr_getclock(&attr, &clock), 0);
	EQ(clock, CLOCK_MONOTONIC);
	RET(pthread_cond_init(&mono, &attr), 0);

	test_timeouts(&real, -1, CLOCK_REALTIME);
	test_timeouts(&mono, -1, CLOCK_MONOTONIC);
	/* The clock named in the call wins over the object's own. */
	test_timeouts(&real, CLOCK_MONOTONIC, CLOCK_MONOTONIC);
	test_timeouts(&mono, CLOCK_REALTIME, CLOCK_REALTIME);

	for (int i = 0; i < 5; i++) {
		ways[i].c = i % 2 ? &mono : &real;
		ways[i].how = i < 2   ? -1
			      : i % 2 ? CLOCK_REALTIME
				      : CLOCK_MONOTONIC;
		ways[i].clock = i == 0	 ? CLOCK_REALTIME
				: i == 1 ? CLOCK_MONOTONIC
					 : ways[i].how;
	}
	start(threads, 5, waiter);
	for (int ready = 0; !ready;) {
		RET(pthread_mutex_lock(&m), 0);
		ready = waiting == 5;
		RET(pthread_mutex_unlock(&m), 0);
		sched_yield();
	}
	nap_us(20000);
	RET(pthread_mutex_lock(&m), 0);
	stage = 1;
	RET(pthread_mutex_unlock(&m), 0);
	RET(pthread_cond_broadcast(&real), 0);
	RET(pthread_cond_broadcast(&mono), 0);
	finish(threads, 5);

	STAGE(0);
	hold_past_deadline();
	STAGE(1);
	run(4, racer);
	EQ(ping, 4 * 3000);
	RET(pthread_cond_destroy(&real), 0);
	RET(pthread_cond_destroy(&mono), 0);
	RET(pthread_mutex_destroy(&m), 0);
	return 0;
}
