/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Timed read/write locking: deadlines, clocks, and what a timed-out waiter leaves. */
#include "expect.h"

static pthread_rwlock_t *l;
static pthread_rwlock_t kinds[] = {
	PTHREAD_RWLOCK_INITIALIZER,
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
};
static const int hows[] = { -1, CLOCK_REALTIME, CLOCK_MONOTONIC };

/* how < 0: the timed call, else the clock call with that clock. */
static int rd(int how, const struct timespec *t)
{
	return how < 0 ? pthread_rwlock_timedrdlock(l, t)
		       : pthread_rwlock_clockrdlock(l, how, t);
}

static int wr(int how, const struct timespec *t)
{
	return how < 0 ? pthread_rwlock_timedwrlock(l, t)
		       : pthread_rwlock_clockwrlock(l, how, t);
}

static const struct timespec bad[] = { { 0, -1 },
				       { 1, 1000000000 },
				       { 4000000000, 1999999999 } };

/* glibc looks at the arguments first, whether it must wait or not. */
static void test_arguments(void)
{
	struct timespec t = { 4000000000, 0 };

	for (int h = 0; h < LEN(hows); h++) {
		for (int i = 0; i < LEN(bad); i++) {
			RET(rd(hows[h], &bad[i]), EINVAL);
			RET(wr(hows[h], &bad[i]), EINVAL);
		}
	}
	RET(pthread_rwlock_clockrdlock(l, CLOCK_BOOTTIME, &t), EINVAL);
	RET(pthread_rwlock_clockwrlock(l, CLOCK_PROCESS_CPUTIME_ID, &t),
	    EINVAL);
}

static void test_free(void)
{
	struct timespec past = { 1, 0 }, negative = { -1, 5 };

	for (int h = 0; h < LEN(hows); h++) {
		RET(rd(hows[h], &past), 0);
		RET(rd(hows[h], &negative), 0);
		RET(pthread_rwlock_unlock(l), 0);
		RET(pthread_rwlock_unlock(l), 0);
		RET(wr(hows[h], &past), 0);
		RET(rd(hows[h], &past), EDEADLK);
		RET(wr(hows[h], &past), EDEADLK);
		RET(pthread_rwlock_unlock(l), 0);
		RET(wr(hows[h], &negative), 0);
		RET(pthread_rwlock_unlock(l), 0);
	}
}

static int reader_inside;

static void *in_vain(void *arg)
{
	struct timespec negative = { -7, 0 };

	for (int h = 0; h < LEN(hows); h++) {
		clockid_t clock = hows[h] < 0 ? CLOCK_REALTIME : hows[h];

		for (int ms = -10; ms <= 30; ms += 20) {
			struct timespec t = in_ms(clock, ms);

			RET(wr(hows[h], &t), ETIMEDOUT);
			EXPECT(reached(clock, t));
			t = in_ms(clock, ms);
			if (reader_inside) {
				RET(rd(hows[h], &t), 0);
				RET(pthread_rwlock_unlock(l), 0);
				continue;
			}
			RET(rd(hows[h], &t), ETIMEDOUT);
			EXPECT(reached(clock, t));
		}
		RET(wr(hows[h], &negative), ETIMEDOUT);
	}
	test_arguments();
	return arg;
}

static void *patient(void *arg)
{
	int me = (intptr_t)arg, how = hows[me % 3];
	struct timespec t = in_ms(how < 0 ? CLOCK_REALTIME : how, 3600 * 1000L);

	RET(me & 1 ? wr(how, &t) : rd(how, &t), 0);
	RET(pthread_rwlock_unlock(l), 0);
	return NULL;
}

static atomic_int stop;
static long a, b, writes[8];

/* Timeouts in the middle of real traffic: a thread that gives up blocks nobody. */
static void *traffic(void *arg)
{
	int me = (intptr_t)arg;
	long mine = 0;

	for (int i = 0; !stop; i++) {
		struct timespec t = in_ms(CLOCK_MONOTONIC, 0);
		int ret, write = (i + me) % 3 == 0;

		t.tv_nsec += t.tv_nsec < 999000000 ? i % 8 * 10000 : 0;
		if (me == 0)
			ret = write ? pthread_rwlock_wrlock(l)
				    : pthread_rwlock_rdlock(l);
		else
			ret = write ? wr(CLOCK_MONOTONIC, &t)
				    : rd(CLOCK_MONOTONIC, &t);
		if (ret) {
			EQ(ret, ETIMEDOUT);
			EXPECT(reached(CLOCK_MONOTONIC, t));
			continue;
		}
		EQ(a, b);
		if (write) {
			a++;
			if (i % 32 == 0)
				nap_us(50);
			b++;
			mine++;
		}
		RET(pthread_rwlock_unlock(l), 0);
	}
	writes[me] = mine;
	return NULL;
}

/*
 * Of the writer-preferring kind under Lockwork only: glibc's can stop for good,
 * with readers and writers inside whose deadlines are long past. glibc 2.41 did so
 * in 3 of 6 runs of 2,000 rounds of 20 ms, 2.36 in 1 of 6.
 */
static void test_traffic(void)
{
	pthread_t threads[8];

	a = b = 0;
	stop = 0;
	start(threads, 8, traffic);
	nap_us(300000);
	stop = 1;
	finish(threads, 8);
	for (int i = 0; i < 8; i++)
		a -= writes[i];
	EQ(a, 0);
}

int main(void)
{
	pthread_t threads[6];

	for (int k = 0; k < LEN(kinds); k++) {
		STAGE(k);
		l = &kinds[k];
		test_arguments();
		test_free();

		reader_inside = 0;
		RET(pthread_rwlock_wrlock(l), 0);
		run(1, in_vain);
		start(threads, 6, patient);
		nap_us(10000);
		RET(pthread_rwlock_unlock(l), 0);
		finish(threads, 6);

		/* Writers that gave up no longer block readers. */
		reader_inside = 1;
		RET(pthread_rwlock_rdlock(l), 0);
		run(1, in_vain);
		EQ(other_rwlock(pthread_rwlock_tryrdlock, l), 0);
		EQ(other_rwlock(pthread_rwlock_unlock, l), 0);
		start(threads, 6, patient);
		nap_us(10000);
		RET(pthread_rwlock_unlock(l), 0);
		finish(threads, 6);
		test_free();

		if (k == 0 || expect_lockwork())
			test_traffic();
		test_free();
		RET(pthread_rwlock_destroy(l), 0);
	}
	return 0;
}
