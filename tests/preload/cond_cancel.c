/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Cancelled waiters: the cleanup handler owns the mutex, and a signal that
 * met the cancellation still reaches somebody.
 */
#include "expect.h"

enum { ROUNDS = 1500 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER,
		      news = PTHREAD_COND_INITIALIZER;
static int waiting, tokens, taken, cleaned, stop, way;

static void own_and_unlock(void *arg)
{
	RET(pthread_mutex_trylock(&m), EBUSY);
	waiting--;
	cleaned += arg != NULL;
	RET(pthread_mutex_unlock(&m), 0);
}

static void *waiter(void *arg)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3600 * 1000L);
	struct timespec u = in_ms(CLOCK_MONOTONIC, 3600 * 1000L);

	RET(pthread_mutex_lock(&m), 0);
	pthread_cleanup_push(own_and_unlock, (void *)1);
	waiting++;
	RET(pthread_cond_signal(&news), 0);
	while (!tokens && !stop) {
		if (way % 3 == 0)
			RET(pthread_cond_wait(&cond, &m), 0);
		else if (way % 3 == 1)
			RET(pthread_cond_timedwait(&cond, &m, &t), 0);
		else
			RET(pthread_cond_clockwait(&cond, &m, CLOCK_MONOTONIC,
						   &u),
			    0);
	}
	if (tokens) {
		tokens--;
		taken++;
		RET(pthread_cond_signal(&news), 0);
	}
	pthread_cleanup_pop(0);
	own_and_unlock(NULL);
	return arg;
}

static void await(const int *value, int n)
{
	RET(pthread_mutex_lock(&m), 0);
	while (*value != n)
		RET(pthread_cond_wait(&news, &m), 0);
	RET(pthread_mutex_unlock(&m), 0);
}

static pthread_t victim;
static atomic_int round_to_cancel;

static void *canceller(void *arg)
{
	for (int i = 1; i <= ROUNDS; i++) {
		while (round_to_cancel < i)
			sched_yield();
		if (i % 4 > 1) {
			EQ(pthread_cancel(victim), 0);
			round_to_cancel = ROUNDS + i + 1;
		}
		while (round_to_cancel > ROUNDS)
			sched_yield();
	}
	return arg;
}

static void give_token(int hold)
{
	RET(pthread_mutex_lock(&m), 0);
	tokens = 1;
	if (hold)
		RET(pthread_cond_signal(&cond), 0);
	RET(pthread_mutex_unlock(&m), 0);
	if (!hold)
		RET(pthread_cond_signal(&cond), 0);
}

/* Of two waiters one is cancelled while one signal comes: it must arrive. */
static void stress(void)
{
	pthread_t cancel_thread, other;
	void *result;

	EQ(pthread_create(&cancel_thread, NULL, canceller, NULL), 0);
	for (int i = 1; i <= ROUNDS; i++) {
		STAGE(i);
		waiting = tokens = taken = cleaned = stop = 0;
		way = i;
		EQ(pthread_create(i & 8 ? &victim : &other, NULL, waiter, NULL),
		   0);
		EQ(pthread_create(i & 8 ? &other : &victim, NULL, waiter, NULL),
		   0);
		await(&waiting, 2);
		round_to_cancel = i;
		if (i % 4 == 0)
			EQ(pthread_cancel(victim), 0);
		give_token(i & 16);
		if (i % 4 == 1)
			EQ(pthread_cancel(victim), 0);
		while (i % 4 > 1 && round_to_cancel != ROUNDS + i + 1)
			sched_yield();
		round_to_cancel = 0;
		await(&taken, 1);
		RET(pthread_mutex_lock(&m), 0);
		stop = 1;
		RET(pthread_cond_broadcast(&cond), 0);
		RET(pthread_mutex_unlock(&m), 0);
		EQ(pthread_join(victim, &result), 0);
		if (cleaned)
			EXPECT(result == PTHREAD_CANCELED);
		EQ(pthread_join(other, &result), 0);
		EXPECT(result == NULL);
		EQ(tokens, 0);
		EQ(taken, 1);
		EQ(waiting, 0);
	}
	round_to_cancel = ROUNDS;
	EQ(pthread_join(cancel_thread, NULL), 0);
}

int main(void)
{
	stress();
	RET(pthread_cond_destroy(&cond), 0);
	RET(pthread_mutex_destroy(&m), 0);
	return 0;
}
