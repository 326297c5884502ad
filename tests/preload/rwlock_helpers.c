/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A reader that waits for other threads which read the same lock: a parallel
 * loop under a read lock.  A writer in between must not keep them out for
 * good, or all of them stand still; both kinds that prefer readers allow it.
 */
#include "expect.h"

enum { HELPERS = 4, ROUNDS = 20 };

static pthread_rwlock_t l;
static atomic_int arrived, wrote, helped;

static void *writer(void *arg)
{
	arrived = 1;
	RET(pthread_rwlock_wrlock(&l), 0);
	wrote = 1;
	RET(pthread_rwlock_unlock(&l), 0);
	return arg;
}

static void *helper(void *arg)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 3600 * 1000L);

	if ((intptr_t)arg % 2)
		RET(pthread_rwlock_rdlock(&l), 0);
	else
		RET(pthread_rwlock_clockrdlock(&l, CLOCK_MONOTONIC, &t), 0);
	EQ(wrote, 0);
	helped++;
	RET(pthread_rwlock_unlock(&l), 0);
	return NULL;
}

static void parallel_loop(int round)
{
	pthread_t w;

	STAGE(round);
	arrived = wrote = helped = 0;
	RET(pthread_rwlock_rdlock(&l), 0);
	EQ(pthread_create(&w, NULL, writer, NULL), 0);
	while (!arrived)
		sched_yield();
	nap_us(3000);
	run(HELPERS, helper);
	EQ(helped, HELPERS);
	EQ(wrote, 0);
	RET(pthread_rwlock_unlock(&l), 0);
	EQ(pthread_join(w, NULL), 0);
	EQ(wrote, 1);
}

int main(void)
{
	static const int kinds[] = { PTHREAD_RWLOCK_PREFER_READER_NP,
				     PTHREAD_RWLOCK_PREFER_WRITER_NP };

	for (int k = 0; k < LEN(kinds); k++) {
		pthread_rwlockattr_t attr;

		EQ(pthread_rwlockattr_init(&attr), 0);
		EQ(pthread_rwlockattr_setkind_np(&attr, kinds[k]), 0);
		RET(pthread_rwlock_init(&l, &attr), 0);
		for (int i = 0; i < ROUNDS; i++)
			parallel_loop(i);
		RET(pthread_rwlock_destroy(&l), 0);
	}
	return 0;
}
