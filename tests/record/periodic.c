// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Holds a mutex ROUNDS times. Each PERIODth hold is long, the others are empty: a recorder
 * that times some of them, and repeats itself too, would meet mostly the one kind.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS	50000
#define PERIOD	7
#define LONG_NS 20000LL

pthread_mutex_t periodic_mutex = PTHREAD_MUTEX_INITIALIZER;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void hold(int is_long)
{
	long long since;

	pthread_mutex_lock(&periodic_mutex);
	if (is_long) {
		since = now();
		while (now() - since < LONG_NS)
			;
	}
	pthread_mutex_unlock(&periodic_mutex);
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++)
		hold(i % PERIOD == 0);
	printf("%d\n", (ROUNDS + PERIOD - 1) / PERIOD);
	return 0;
}
