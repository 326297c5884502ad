/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* pthread_mutex_timedlock and pthread_mutex_clocklock. */
#include "expect.h"

static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
			     PTHREAD_MUTEX_ERRORCHECK,
			     PTHREAD_MUTEX_ADAPTIVE_NP };
static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };

static pthread_mutex_t m;
static atomic_int stop;

/* clock < 0: pthread_mutex_timedlock. */
static int lock_until(clockid_t clock, const struct timespec *t)
{
	return clock < 0 ? pthread_mutex_timedlock(&m, t)
			 : pthread_mutex_clocklock(&m, clock, t);
}

/* Another thread holds m: every way to wait in vain. */
static void *in_vain(void *arg)
{
	struct timespec bad[] = { { 0, -1 },
				  { 0, 1000000000 },
				  { 4000000000, 2000000000 } };
	struct timespec negative = { -5, 0 }, t;

	for (int c = -1; c < LEN(clocks); c++) {
		clockid_t clock = c < 0 ? CLOCK_REALTIME : clocks[c];
		clockid_t how = c < 0 ? -1 : clock;

		for (int ms = -10; ms <= 30; ms += 20) {
			t = in_ms(clock, ms);
			RET(lock_until(how, &t), ETIMEDOUT);
			EXPECT(reached(clock, t));
		}
		RET(lock_until(how, &negative), ETIMEDOUT);
		for (int i = 0; i < LEN(bad); i++)
			RET(lock_until(how, &bad[i]), EINVAL);
	}
	RET(pthread_mutex_trylock(&m), EBUSY);
	return arg;
}

/* m is free: no deadline matters. */
static void when_free(void)
{
	struct timespec past = { 1, 0 }, bad = { 0, 1000000001 },
			negative = { -1, -1 };
	struct timespec t;

	for (int c = -1; c < LEN(clocks); c++) {
		clockid_t how = c < 0 ? -1 : clocks[c];

		t = in_ms(c < 0 ? CLOCK_REALTIME : clocks[c], 5);
		RET(lock_until(how, &t), 0);
		RET(pthread_mutex_unlock(&m), 0);
		RET(lock_until(how, &past), 0);
		RET(pthread_mutex_unlock(&m), 0);
		RET(lock_until(how, &bad), 0);
		RET(pthread_mutex_unlock(&m), 0);
		RET(lock_until(how, &negative), 0);
		RET(pthread_mutex_unlock(&m), 0);
	}
	/* Only two clocks will do, whether there is a wait or not. */
	RET(pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &past),
	    EINVAL);
	RET(pthread_mutex_clocklock(&m, CLOCK_BOOTTIME, &past), EINVAL);
	RET(pthread_mutex_clocklock(&m, 12345, &past), EINVAL);
	RET(pthread_mutex_trylock(&m), 0);
	RET(pthread_mutex_unlock(&m), 0);
}

/* The owner asks again. */
static void by_owner(int type)
{
	struct timespec bad = { 0, -1 };

	for (int c = 0; c < LEN(clocks); c++) {
		struct timespec t = in_ms(clocks[c], 15);

		if (type == PTHREAD_MUTEX_RECURSIVE) {
			RET(lock_until(clocks[c], &bad), 0);
			RET(lock_until(clocks[c], &t), 0);
			RET(pthread_mutex_unlock(&m), 0);
			RET(pthread_mutex_unlock(&m), 0);
		} else if (type == PTHREAD_MUTEX_ERRORCHECK) {
			RET(lock_until(clocks[c], &t), EDEADLK);
			RET(lock_until(clocks[c], &bad), EDEADLK);
		} else {
			RET(lock_until(clocks[c], &t), ETIMEDOUT);
			EXPECT(reached(clocks[c], t));
		}
	}
	EQ(other_mutex(pthread_mutex_trylock, &m), EBUSY);
}

static void *patient(void *arg)
{
	clockid_t clock = clocks[(intptr_t)arg % 2];
	struct timespec t = in_ms(clock, 3600 * 1000L);

	RET(lock_until(clock, &t), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return NULL;
}

static long counter, taken_by[8];

/* Deadlines that often pass, among plain locks that must not be harmed. */
static void *impatient(void *arg)
{
	intptr_t me = (intptr_t)arg;
	long mine = 0;

	while (!stop) {
		if (me & 1) {
			struct timespec t = in_ms(CLOCK_MONOTONIC, 0);
			int ret;

			t.tv_nsec += t.tv_nsec < 999000000 ? me * 20000 : 0;
			ret = pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &t);
			if (ret == ETIMEDOUT) {
				EXPECT(reached(CLOCK_MONOTONIC, t));
				continue;
			}
			EQ(ret, 0);
		} else {
			RET(pthread_mutex_lock(&m), 0);
		}
		counter++;
		mine++;
		if (mine % 64 == 0)
			nap_us(100);
		RET(pthread_mutex_unlock(&m), 0);
	}
	taken_by[me] = mine;
	return NULL;
}

int main(void)
{
	pthread_t threads[8];
	pthread_t vain;
	long sum = 0;

	for (int i = 0; i < LEN(types); i++) {
		STAGE(types[i]);
		mutex_of_type(&m, types[i]);
		when_free();
		RET(pthread_mutex_lock(&m), 0);
		EQ(pthread_create(&vain, NULL, in_vain, NULL), 0);
		EQ(pthread_join(vain, NULL), 0);
		by_owner(types[i]);
		start(threads, 4, patient);
		nap_us(10000);
		RET(pthread_mutex_unlock(&m), 0);
		finish(threads, 4);
		when_free();
		RET(pthread_mutex_destroy(&m), 0);
	}

	STAGE(0);
	RET(pthread_mutex_init(&m, NULL), 0);
	start(threads, 8, impatient);
	nap_us(400000);
	stop = 1;
	finish(threads, 8);
	for (int i = 0; i < 8; i++)
		sum += taken_by[i];
	EQ(counter, sum);
	RET(pthread_mutex_destroy(&m), 0);
	return 0;
}
