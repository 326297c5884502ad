/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Readers that overlap without end.  Lockwork lets a writer in all the same;
 * glibc's default kind promises only that the readers get theirs.
 */
#include "expect.h"

enum { READERS = 6, WRITES = 10 };

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int stop, inside, writes, overlapped;

static void *reader(void *arg)
{
	nap_us(300 * (intptr_t)arg);
	while (!stop) {
		RET(pthread_rwlock_rdlock(&l), 0);
		if (++inside > 1)
			overlapped++;
		nap_us(1000);
		inside--;
		RET(pthread_rwlock_unlock(&l), 0);
	}
	return NULL;
}

static void *writer(void *arg)
{
	for (int i = 0; i < WRITES && !stop; i++) {
		RET(pthread_rwlock_wrlock(&l), 0);
		EQ(inside, 0);
		writes++;
		RET(pthread_rwlock_unlock(&l), 0);
	}
	return arg;
}

int main(void)
{
	pthread_t readers[READERS], w[2];

	start(readers, READERS, reader);
	while (overlapped < 2 * READERS)
		sched_yield();
	start(w, 2, writer);
	if (expect_lockwork())
		finish(w, 2);
	else
		nap_us(200000);
	stop = 1;
	finish(readers, READERS);
	if (expect_lockwork())
		EQ(writes, 2 * WRITES);
	else
		finish(w, 2);
	return 0;
}
