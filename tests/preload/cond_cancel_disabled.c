/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A thread whose timed wait is over forbids cancellation, and makes calls that are
 * cancellation points. A cancellation that came during the wait does not end it there.
 */
#include "expect.h"

enum { PAIRS = 4, ROUNDS = 800 };

struct pair {
	pthread_mutex_t m;
	pthread_cond_t cond;
	int is_protected;
};

static void never_protected(void *arg)
{
	EQ(((struct pair *)arg)->is_protected, 0);
}

static void unlock(void *arg)
{
	RET(pthread_mutex_unlock(arg), 0);
}

static void wait_shortly(struct pair *p)
{
	struct timespec t;

	RET(pthread_mutex_lock(&p->m), 0);
	pthread_cleanup_push(unlock, &p->m);
	t = in_ms(CLOCK_REALTIME, 0);
	t.tv_nsec += 20000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	(void)pthread_cond_timedwait(&p->cond, &p->m, &t);
	pthread_cleanup_pop(1);
}

static void *waiter(void *arg)
{
	struct pair *p = arg;
	int old;

	pthread_cleanup_push(never_protected, p);
	for (;;) {
		wait_shortly(p);
		EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
		p->is_protected = 1;
		usleep(20);
		p->is_protected = 0;
		EQ(pthread_setcancelstate(old, NULL), 0);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void *canceller(void *arg)
{
	unsigned int seed = (unsigned int)(intptr_t)arg;
	pthread_t thread;
	void *result;

	for (int i = 0; i < ROUNDS; i++) {
		struct pair p = { PTHREAD_MUTEX_INITIALIZER,
				  PTHREAD_COND_INITIALIZER, 0 };

		STAGE(i);
		EQ(pthread_create(&thread, NULL, waiter, &p), 0);
		nap_us(rand_r(&seed) % 500);
		EQ(pthread_cancel(thread), 0);
		EQ(pthread_join(thread, &result), 0);
		EXPECT(result == PTHREAD_CANCELED);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[PAIRS];

	for (intptr_t i = 0; i < PAIRS; i++)
		EQ(pthread_create(&threads[i], NULL, canceller, (void *)i), 0);
	for (int i = 0; i < PAIRS; i++)
		EQ(pthread_join(threads[i], NULL), 0);
	return 0;
}
