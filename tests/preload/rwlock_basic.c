/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Who gets in with whom, for each kind of read/write lock. */
#include "expect.h"

static pthread_rwlock_t still = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t nonrecursive =
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_rwlock_t *l;
static atomic_int arrived, wrote, read_it;

static void test_alone(void)
{
	for (int i = 0; i < 3; i++) {
		RET(pthread_rwlock_rdlock(l), 0);
		EQ(other_rwlock(pthread_rwlock_tryrdlock, l), 0); /* stays */
		EQ(other_rwlock(pthread_rwlock_rdlock, l), 0);	  /* stays */
		EQ(other_rwlock(pthread_rwlock_trywrlock, l), EBUSY);
		RET(pthread_rwlock_trywrlock(l), EBUSY);
		RET(pthread_rwlock_tryrdlock(l), 0);
		/* Four holds; glibc asks only that they add up. */
		EQ(other_rwlock(pthread_rwlock_unlock, l), 0);
		EQ(other_rwlock(pthread_rwlock_trywrlock, l), EBUSY);
		RET(pthread_rwlock_unlock(l), 0);
		RET(pthread_rwlock_unlock(l), 0);
		EQ(other_rwlock(pthread_rwlock_trywrlock, l), EBUSY);
		EQ(other_rwlock(pthread_rwlock_unlock, l), 0);

		RET(pthread_rwlock_wrlock(l), 0);
		RET(pthread_rwlock_wrlock(l), EDEADLK);
		RET(pthread_rwlock_rdlock(l), EDEADLK);
		RET(pthread_rwlock_tryrdlock(l), EBUSY);
		RET(pthread_rwlock_trywrlock(l), EBUSY);
		EQ(other_rwlock(pthread_rwlock_tryrdlock, l), EBUSY);
		EQ(other_rwlock(pthread_rwlock_trywrlock, l), EBUSY);
		RET(pthread_rwlock_unlock(l), 0);

		RET(pthread_rwlock_trywrlock(l), 0);
		RET(pthread_rwlock_wrlock(l), EDEADLK);
		EQ(other_rwlock(pthread_rwlock_trywrlock, l), EBUSY);
		RET(pthread_rwlock_unlock(l), 0);
		RET(pthread_rwlock_tryrdlock(l), 0);
		RET(pthread_rwlock_unlock(l), 0);
	}
}

static void *writer(void *arg)
{
	arrived = 1;
	RET(pthread_rwlock_wrlock(l), 0);
	wrote = 1;
	RET(pthread_rwlock_rdlock(l), EDEADLK);
	RET(pthread_rwlock_unlock(l), 0);
	return arg;
}

static void *reader(void *arg)
{
	arrived++;
	RET(pthread_rwlock_rdlock(l), 0);
	read_it++;
	RET(pthread_rwlock_unlock(l), 0);
	return arg;
}

/* A writer waits for us.  We may still read, by any road and to any depth. */
static void test_recursion(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3600 * 1000L);
	pthread_t w;

	arrived = wrote = 0;
	RET(pthread_rwlock_rdlock(l), 0);
	EQ(pthread_create(&w, NULL, writer, NULL), 0);
	while (!arrived)
		sched_yield();
	nap_us(20000);
	STAGE(1);
	for (int i = 0; i < 50; i++) {
		RET(pthread_rwlock_rdlock(l), 0);
		RET(pthread_rwlock_tryrdlock(l), 0);
		RET(pthread_rwlock_timedrdlock(l, &t), 0);
	}
	for (int i = 0; i < 150; i++)
		RET(pthread_rwlock_unlock(l), 0);
	EQ(wrote, 0);
	RET(pthread_rwlock_unlock(l), 0);
	EQ(pthread_join(w, NULL), 0);
	EQ(wrote, 1);
}

/* The kind that prefers writers: one that waits keeps new readers out. */
static void test_writer_first(void)
{
	pthread_t w, r[3];
	int ret;

	arrived = wrote = read_it = 0;
	RET(pthread_rwlock_rdlock(l), 0);
	EQ(pthread_create(&w, NULL, writer, NULL), 0);
	STAGE(3);
	while ((ret = pthread_rwlock_tryrdlock(l)) == 0) {
		RET(pthread_rwlock_unlock(l), 0);
		sched_yield();
	}
	EQ(ret, EBUSY);
	arrived = 0;
	start(r, 3, reader);
	while (arrived < 3)
		sched_yield();
	nap_us(20000);
	EQ(read_it, 0);
	EQ(wrote, 0);
	RET(pthread_rwlock_unlock(l), 0);
	EQ(pthread_join(w, NULL), 0);
	finish(r, 3);
	EQ(read_it, 3);
}

/* A writer holds; readers and writers wait; all get their turn. */
static void test_release(void)
{
	pthread_t w[2], r[6];

	arrived = wrote = read_it = 0;
	RET(pthread_rwlock_wrlock(l), 0);
	start(r, 3, reader);
	start(w, 2, writer);
	start(r + 3, 3, reader);
	nap_us(20000);
	EQ(wrote, 0);
	EQ(read_it, 0);
	STAGE(4);
	RET(pthread_rwlock_unlock(l), 0);
	finish(r, 6);
	finish(w, 2);
	EQ(read_it, 6);
	test_alone();
}

static void test_kind(int kind)
{
	pthread_rwlockattr_t attr;
	pthread_rwlock_t lock;
	int seen;

	memset(&lock, 0x5a, sizeof(lock));
	EQ(pthread_rwlockattr_init(&attr), 0);
	EQ(pthread_rwlockattr_setkind_np(&attr, kind), 0);
	EQ(pthread_rwlockattr_getkind_np(&attr, &seen), 0);
	EQ(seen, kind);
	RET(pthread_rwlock_init(&lock, &attr), 0);
	EQ(pthread_rwlockattr_destroy(&attr), 0);
	l = &lock;
	test_alone();
	if (kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
		test_writer_first();
	else
		test_recursion();
	test_release();
	RET(pthread_rwlock_destroy(&lock), 0);
}

int main(void)
{
	l = &still;
	test_alone();
	test_recursion();
	test_release();
	RET(pthread_rwlock_destroy(l), 0);
	l = &nonrecursive;
	test_alone();
	test_writer_first();
	test_release();
	RET(pthread_rwlock_destroy(l), 0);
	test_kind(PTHREAD_RWLOCK_PREFER_READER_NP);
	test_kind(
		PTHREAD_RWLOCK_PREFER_WRITER_NP); /* recursion still allowed */
	test_kind(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	return 0;
}
