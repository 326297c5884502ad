/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A condition variable may be destroyed, and its memory given away, as soon as
 * its waiters have been woken: before they have run, and with the mutex held.
 */
#include "preempt.h"

enum { ROUNDS = 400, MOST = 5 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t *cond;
static int waiting, ready;

static void *waiter(void *arg)
{
	pthread_cond_t *c = cond;

	RET(pthread_mutex_lock(&m), 0);
	waiting++;
	while (!ready)
		RET(pthread_cond_wait(c, &m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void waker_destroys(int round)
{
	pthread_t threads[MOST];
	int n = round % MOST + 1, hold = round & 8;

	cond = map_pages(4096, MAP_PRIVATE);
	RET(pthread_cond_init(cond, NULL), 0);
	waiting = ready = 0;
	start(threads, n, waiter);
	for (int seen = 0; seen < n;) {
		RET(pthread_mutex_lock(&m), 0);
		seen = waiting;
		RET(pthread_mutex_unlock(&m), 0);
		sched_yield();
	}
	RET(pthread_mutex_lock(&m), 0);
	ready = 1;
	if (!hold)
		RET(pthread_mutex_unlock(&m), 0);
	if (round & 16) {
		for (int i = 0; i < n; i++)
			RET(pthread_cond_signal(cond), 0);
	} else {
		RET(pthread_cond_broadcast(cond), 0);
	}
	RET(pthread_cond_destroy(cond), 0);
	take_away(cond);
	if (hold)
		RET(pthread_mutex_unlock(&m), 0);
	finish(threads, n);
}

/* A request: the one who waits for it owns it, and unmaps it once served. */
struct request {
	pthread_mutex_t m;
	pthread_cond_t done;
	int served;
};

static struct request *_Atomic inbox;

static void *client(void *arg)
{
	for (int i = 0; i < 2 * ROUNDS; i++) {
		struct request *r = map_pages(4096, MAP_PRIVATE), *none;

		RET(pthread_mutex_init(&r->m, NULL), 0);
		RET(pthread_cond_init(&r->done, NULL), 0);
		RET(pthread_mutex_lock(&r->m), 0);
		do {
			none = NULL;
			sched_yield();
		} while (!atomic_compare_exchange_weak(&inbox, &none, r));
		while (!r->served)
			RET(pthread_cond_wait(&r->done, &r->m), 0);
		RET(pthread_mutex_unlock(&r->m), 0);
		if (i & 1) {
			RET(pthread_cond_destroy(&r->done), 0);
			RET(pthread_mutex_destroy(&r->m), 0);
		}
		take_away(r);
	}
	return arg;
}

static void *server(void *arg)
{
	for (int i = 0; i < 2 * 2 * ROUNDS; i++) {
		struct request *r;

		while (!(r = atomic_exchange(&inbox, NULL)))
			sched_yield();
		RET(pthread_mutex_lock(&r->m), 0);
		r->served = 1;
		if (i & 1)
			RET(pthread_cond_signal(&r->done), 0);
		else
			RET(pthread_cond_broadcast(&r->done), 0);
		RET(pthread_mutex_unlock(&r->m), 0); /* r may be gone in here */
	}
	return arg;
}

static void *client_or_server(void *arg)
{
	return (intptr_t)arg == 2 ? server(arg) : client(arg);
}

/* The place of a dead condition variable serves a new one at once. */
static void same_place(void)
{
	struct timespec t;

	cond = map_pages(4096, MAP_PRIVATE);
	RET(pthread_mutex_lock(&m), 0);
	for (int i = 0; i < 50; i++) {
		if (i & 1)
			memset(cond, 0, sizeof(*cond));
		else
			RET(pthread_cond_init(cond, NULL), 0);
		t = in_ms(CLOCK_REALTIME, i % 3);
		RET(pthread_cond_timedwait(cond, &m, &t), ETIMEDOUT);
		if (i % 5 == 0)
			RET(pthread_cond_destroy(cond), 0);
	}
	RET(pthread_mutex_unlock(&m), 0);
	take_away(cond);
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		STAGE(i);
		waker_destroys(i);
	}
	STAGE(0);
	run_preempted(3, client_or_server);
	STAGE(1);
	same_place();
	return 0;
}
