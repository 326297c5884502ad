/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Exclusion under contention: every kind, few threads and many. */
#include "expect.h"

static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
			     PTHREAD_MUTEX_ERRORCHECK,
			     PTHREAD_MUTEX_ADAPTIVE_NP };
enum { PAIRS = 120000 };

static pthread_mutex_t m;
static int type, threads;
static long counter[2];
static pthread_t owner;

static void *body(void *arg)
{
	pthread_t self = pthread_self();
	long rounds = PAIRS / threads;

	for (long i = 0; i < rounds; i++) {
		struct timespec t;

		switch ((i + (intptr_t)arg) % 8) {
		case 0:
			errno = KEPT;
			while (pthread_mutex_trylock(&m)) {
				EQ(errno, KEPT);
				sched_yield();
			}
			break;
		case 1:
			t = in_ms(CLOCK_REALTIME, 3600 * 1000L);
			RET(pthread_mutex_timedlock(&m, &t), 0);
			break;
		default:
			RET(pthread_mutex_lock(&m), 0);
		}
		owner = self;
		counter[0]++;
		if (type == PTHREAD_MUTEX_RECURSIVE) {
			RET(pthread_mutex_lock(&m), 0);
			RET(pthread_mutex_trylock(&m), 0);
			RET(pthread_mutex_unlock(&m), 0);
			RET(pthread_mutex_unlock(&m), 0);
		} else if (type == PTHREAD_MUTEX_ERRORCHECK) {
			RET(pthread_mutex_lock(&m), EDEADLK);
		}
		if (i % 512 == 0)
			sched_yield();
		counter[1]++;
		EQ(counter[0], counter[1]);
		EXPECT(pthread_equal(owner, self));
		RET(pthread_mutex_unlock(&m), 0);
	}
	return NULL;
}

int main(void)
{
	static const int crowds[] = { 2, 16, 64 };

	for (int i = 0; i < LEN(types) * LEN(crowds); i++) {
		STAGE(i);
		type = types[i / LEN(crowds)];
		threads = crowds[i % LEN(crowds)];
		counter[0] = counter[1] = 0;
		mutex_of_type(&m, type);
		run(threads, body);
		EQ(counter[0], PAIRS / threads * threads);
		RET(pthread_mutex_destroy(&m), 0);
	}
	return 0;
}
