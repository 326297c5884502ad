/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Queues, tokens and barriers: one wake-up lost and the program stands still. */
#include "expect.h"

enum {
	PAIRS = 10,
	SLOTS = 4,
	ITEMS = 2000,
	RING = 16,
	LAPS = 300,
	GENERATIONS = 300
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER,
		      not_empty = PTHREAD_COND_INITIALIZER;
static int ring[SLOTS], head, tail;
static long produced, consumed;
static int hold;

/* Single signals only: each must reach a waiter of the right sort. */
static void put(int item)
{
	RET(pthread_mutex_lock(&m), 0);
	while (tail - head == SLOTS)
		RET(pthread_cond_wait(&not_full, &m), 0);
	ring[tail++ % SLOTS] = item;
	produced += item;
	if (hold)
		RET(pthread_cond_signal(&not_empty), 0);
	RET(pthread_mutex_unlock(&m), 0);
	if (!hold)
		RET(pthread_cond_signal(&not_empty), 0);
}

static void get(void)
{
	int item;

	RET(pthread_mutex_lock(&m), 0);
	while (tail == head)
		RET(pthread_cond_wait(&not_empty, &m), 0);
	item = ring[head % SLOTS];
	ring[head++ % SLOTS] = -1;
	EXPECT(item > 0);
	consumed += item;
	if (hold)
		RET(pthread_cond_signal(&not_full), 0);
	RET(pthread_mutex_unlock(&m), 0);
	if (!hold)
		RET(pthread_cond_signal(&not_full), 0);
}

static void *queue_body(void *arg)
{
	for (int i = 1; i <= ITEMS; i++) {
		if ((intptr_t)arg & 1)
			put(i);
		else
			get();
	}
	return NULL;
}

static pthread_cond_t mine[RING];
static long token;

/* Each has a condition variable of its own, and one waker. */
static void *ring_body(void *arg)
{
	int me = (intptr_t)arg;

	RET(pthread_mutex_lock(&m), 0);
	for (int i = 0; i < LAPS; i++) {
		while (token % RING != me)
			RET(pthread_cond_wait(&mine[me], &m), 0);
		token++;
		RET(pthread_cond_signal(&mine[(me + 1) % RING]), 0);
	}
	RET(pthread_mutex_unlock(&m), 0);
	return NULL;
}

static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int arrived, generation;

static void *barrier_body(void *arg)
{
	for (int i = 0; i < GENERATIONS; i++) {
		RET(pthread_mutex_lock(&m), 0);
		EQ(generation, i);
		if (++arrived == RING) {
			arrived = 0;
			generation++;
			RET(pthread_cond_broadcast(&turned), 0);
		}
		while (generation == i)
			RET(pthread_cond_wait(&turned, &m), 0);
		RET(pthread_mutex_unlock(&m), 0);
	}
	return arg;
}

int main(void)
{
	for (hold = 0; hold < 2; hold++) {
		STAGE(hold);
		produced = consumed = 0;
		run(2 * PAIRS, queue_body);
		EQ(head, tail);
		EQ(produced, consumed);
		EQ(consumed, PAIRS * (long)ITEMS * (ITEMS + 1) / 2);
	}
	for (int i = 0; i < RING; i++)
		RET(pthread_cond_init(&mine[i], NULL), 0);
	STAGE(2);
	run(RING, ring_body);
	EQ(token, RING * LAPS);
	STAGE(3);
	run(RING, barrier_body);
	EQ(generation, GENERATIONS);
	for (int i = 0; i < RING; i++)
		RET(pthread_cond_destroy(&mine[i]), 0);
	RET(pthread_cond_destroy(&turned), 0);
	RET(pthread_cond_destroy(&not_full), 0);
	RET(pthread_cond_destroy(&not_empty), 0);
	RET(pthread_mutex_destroy(&m), 0);
	return 0;
}
