/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Statically initialized objects, each in its first use: by several threads at
 * once, with the bytes in disorder that an initializer may leave so, and with a
 * signal handler that uses it too, after the 1st, 2nd, 3rd ... instruction.
 */
#include "expect.h"
#include "../step.h"

enum { THREADS = 4, OBJECTS = 2000 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rws[OBJECTS];
static pthread_cond_t conds[OBJECTS];
static long counts[OBJECTS], arrived[OBJECTS];
static atomic_int ready[OBJECTS];
static int lockwork;

/* Nobody goes on to an object before all are there. */
static void meet(int object)
{
	ready[object]++;
	while (ready[object] < THREADS)
		sched_yield();
}

static void *use(void *arg)
{
	for (int i = 0; i < OBJECTS; i++) {
		STAGE(i);
		meet(i);
		RET(pthread_rwlock_wrlock(&rws[i]), 0);
		counts[i]++;
		RET(pthread_rwlock_unlock(&rws[i]), 0);
		RET(pthread_mutex_lock(&m), 0);
		if (++arrived[i] == THREADS)
			RET(pthread_cond_broadcast(&conds[i]), 0);
		while (arrived[i] < THREADS) {
			RET(pthread_cond_wait(&conds[i], &m), 0);
			if (lockwork) /* never wakes a waiter by itself */
				EQ(arrived[i], THREADS);
		}
		RET(pthread_mutex_unlock(&m), 0);
	}
	return arg;
}

static void use_all(void)
{
	memset(counts, 0, sizeof(counts));
	memset(arrived, 0, sizeof(arrived));
	memset(ready, 0, sizeof(ready));
	run(THREADS, use);
	for (int i = 0; i < OBJECTS; i++) {
		EQ(counts[i], THREADS);
		RET(pthread_cond_destroy(&conds[i]), 0);
		RET(pthread_rwlock_wrlock(&rws[i]), 0);
		if (lockwork) /* it has our mark: see preload/rwlock.c */
			EQ(((const uint32_t *)&rws[i])[10], 0xa110c8ed);
		RET(pthread_rwlock_unlock(&rws[i]), 0);
		RET(pthread_rwlock_destroy(&rws[i]), 0);
	}
}

/* Only the first `cleared` bytes are 0. */
static void disorder(void *object, size_t size, size_t cleared)
{
	memset(object, 0, cleared);
	memset((char *)object + cleared, 0xa5, size - cleared);
}

static pthread_rwlock_t first;

static void use_first(void)
{
	pthread_rwlock_wrlock(&first);
	pthread_rwlock_unlock(&first);
}

static void use_in_handler(void)
{
	if (!pthread_rwlock_tryrdlock(&first))
		pthread_rwlock_unlock(&first);
}

static void with_a_handler(void)
{
	long steps = 0;

	use_in_handler(); /* symbols bound */
	use_first();
	do {
		STAGE(++steps);
		first = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	} while (step_into(use_first, use_in_handler, steps) &&
		 !pthread_rwlock_destroy(&first));
	/* Past the last instruction, and not because something was left held. */
	RET(pthread_rwlock_destroy(&first), 0);
}

int main(void)
{
	const int kinds[] = { PTHREAD_RWLOCK_PREFER_READER_NP,
			      PTHREAD_RWLOCK_PREFER_WRITER_NP,
			      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP };

	lockwork = expect_lockwork();
	use_all();
	for (int i = 0; i < OBJECTS; i++) {
		conds[i] = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
		/* The last field is the kind, in 4 bytes at 48; then 4 of padding. */
		disorder(&rws[i], sizeof(rws[i]), 52);
		rws[i].__data.__flags = kinds[i % LEN(kinds)];
		/* The initializer of the first glibc 2.41 ended at 40. Older ones
		 * use the bytes after that, so this is for Lockwork alone. */
		if (lockwork)
			disorder(&conds[i], sizeof(conds[i]), 40);
	}
	use_all();
	with_a_handler();
	return 0;
}
