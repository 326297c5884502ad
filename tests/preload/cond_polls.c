/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A waiter that is alone may look for its signal for a while before it sleeps. A new
 * condition variable in each round, so that it does; and what happens, happens as soon
 * as it has begun to wait: it is in a signal handler, or cancelled, or out of time.
 */
#include "in_handler.h"
#include "one_of_each.h"

enum { ROUNDS = 300 };

static int waiting;

static void unlock_cleanup(void *arg)
{
	(void)arg;
	unlock();
}

static void *waiter(void *arg)
{
	lock();
	pthread_cleanup_push(unlock_cleanup, NULL);
	waiting++;
	while (!tokens)
		RET(pthread_cond_wait(&cond, &mutex), 0);
	tokens--;
	pthread_cleanup_pop(1);
	return arg;
}

/* Each wait is over before the waiter would sleep. */
static void *hasty_waiter(void *arg)
{
	lock();
	waiting++;
	for (long us = 1; !tokens; us = us % 200 + 1) {
		struct timespec soon = in_ms(CLOCK_REALTIME, 0);
		int err;

		soon.tv_nsec += us * 1000;
		if (soon.tv_nsec >= 1000000000)
			soon.tv_sec++, soon.tv_nsec -= 1000000000;
		err = pthread_cond_timedwait(&cond, &mutex, &soon);
		EXPECT(!err || err == ETIMEDOUT);
	}
	tokens--;
	unlock();
	return arg;
}

static pthread_t begin(void *(*thread)(void *))
{
	pthread_t t;

	EQ(pthread_create(&t, NULL, thread, NULL), 0);
	return t;
}

/* Until so many have given the mutex up to wait. */
static void await_waiting(int count)
{
	bool enough;

	do {
		sched_yield();
		lock();
		enough = waiting == count;
		unlock();
	} while (!enough);
}

static void give_token(void)
{
	lock();
	tokens++;
	RET(pthread_cond_signal(&cond), 0);
	unlock();
}

/* A signal that comes meanwhile goes to the one that came later. */
static void first_is_in_a_handler(void)
{
	pthread_t first = begin(waiter), second;

	await_waiting(1);
	EQ(pthread_kill(first, SIGUSR1), 0);
	while (!atomic_load(&in_handler))
		sched_yield();
	second = begin(waiter);
	await_waiting(2);
	give_token();
	EQ(pthread_join(second, NULL), 0);
	handler_ends();
	give_token();
	EQ(pthread_join(first, NULL), 0);
}

/* Or it is not cancelled, because the token was quicker. */
static void cancelled(bool and_signalled)
{
	pthread_t first = begin(waiter), second;
	void *result;
	bool is_left;

	await_waiting(1);
	if (and_signalled)
		give_token();
	EQ(pthread_cancel(first), 0);
	EQ(pthread_join(first, &result), 0);
	EXPECT(!result || result == PTHREAD_CANCELED);
	is_left = tokens == 1;
	second = begin(waiter);
	if (!is_left)
		give_token();
	EQ(pthread_join(second, NULL), 0);
}

static void out_of_time(void)
{
	pthread_t first = begin(hasty_waiter);

	await_waiting(1);
	give_token();
	EQ(pthread_join(first, NULL), 0);
}

static void with_a_new_one(void (*test)(void))
{
	waiting = 0;
	RET(pthread_cond_init(&cond, NULL), 0);
	test();
	EQ(tokens, 0);
	RET(pthread_cond_destroy(&cond), 0);
}

static void cancelled_alone(void)
{
	cancelled(false);
}

static void cancelled_and_signalled(void)
{
	cancelled(true);
}

int main(void)
{
	handler_install();
	for (long round = 0; round < ROUNDS; round++) {
		STAGE(round);
		with_a_new_one(first_is_in_a_handler);
		with_a_new_one(cancelled_alone);
		with_a_new_one(cancelled_and_signalled);
		with_a_new_one(out_of_time);
	}
	return 0;
}
