/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* <threads.h>: the results are C11's, not POSIX's. */
#include "expect.h"
#include <threads.h>

enum { WORKERS = 16, ROUNDS = 3000 };

static mtx_t m;
static cnd_t cond;
static long counter, ping;
static int kind;

static int try_body(void *arg)
{
	int ret = mtx_trylock(arg);

	if (ret == thrd_success)
		mtx_unlock(arg);
	return ret;
}

static int timed_body(void *arg)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 20);

	RET(mtx_timedlock(arg, &t), thrd_timedout);
	EXPECT(reached(CLOCK_REALTIME, t));
	t.tv_nsec = 1000000000;
	RET(mtx_timedlock(arg, &t), thrd_error);
	return 0;
}

static int unlock_body(void *arg)
{
	return mtx_unlock(arg);
}

static int other(thrd_start_t body)
{
	thrd_t thread;
	int ret;

	EQ(thrd_create(&thread, body, &m), thrd_success);
	EQ(thrd_join(thread, &ret), thrd_success);
	return ret;
}

static int count_body(void *arg)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3600 * 1000L);

	for (int i = 0; i < ROUNDS; i++) {
		if (i % 3 == 0)
			RET(mtx_timedlock(&m, &t), thrd_success);
		else
			RET(mtx_lock(&m), thrd_success);
		if (kind & mtx_recursive) {
			RET(mtx_trylock(&m), thrd_success);
			RET(mtx_unlock(&m), thrd_success);
		}
		counter++;
		RET(mtx_unlock(&m), thrd_success);
	}
	(void)arg;
	return 0;
}

static int ping_body(void *arg)
{
	int me = (intptr_t)arg;
	struct timespec t = in_ms(CLOCK_REALTIME, 3600 * 1000L);

	RET(mtx_lock(&m), thrd_success);
	for (int i = 0; i < 200; i++) {
		while (ping % WORKERS != me) {
			if (i & 1)
				RET(cnd_wait(&cond, &m), thrd_success);
			else
				RET(cnd_timedwait(&cond, &m, &t), thrd_success);
		}
		ping++;
		RET(cnd_broadcast(&cond), thrd_success);
	}
	RET(mtx_unlock(&m), thrd_success);
	return 0;
}

static void all(thrd_start_t body)
{
	thrd_t threads[WORKERS];
	int ret;

	for (intptr_t i = 0; i < WORKERS; i++)
		EQ(thrd_create(&threads[i], body, (void *)i), thrd_success);
	for (int i = 0; i < WORKERS; i++) {
		EQ(thrd_join(threads[i], &ret), thrd_success);
		EQ(ret, 0);
	}
}

static int stage;

static int sleeper(void *arg)
{
	RET(mtx_lock(&m), thrd_success);
	stage++;
	RET(cnd_signal(&cond), thrd_success);
	while (stage < 2)
		RET(cnd_wait(&cond, &m), thrd_success);
	RET(mtx_unlock(&m), thrd_success);
	(void)arg;
	return 0;
}

static void test_signal(void)
{
	thrd_t thread;

	stage = 0;
	RET(mtx_lock(&m), thrd_success);
	EQ(thrd_create(&thread, sleeper, NULL), thrd_success);
	while (stage == 0)
		RET(cnd_wait(&cond, &m), thrd_success);
	stage = 2;
	RET(cnd_signal(&cond), thrd_success);
	RET(mtx_unlock(&m), thrd_success);
	EQ(thrd_join(thread, NULL), thrd_success);
}

/* What glibc makes of a type that C11 does not have: a plain mutex. */
static void test_unknown_kind(void)
{
	RET(mtx_init(&m, 4 | mtx_recursive), thrd_success);
	RET(mtx_lock(&m), thrd_success);
	RET(mtx_trylock(&m), thrd_busy);
	RET(mtx_unlock(&m), thrd_success);
	mtx_destroy(&m);
}

static void test_kind(void)
{
	struct timespec past = { 1, 0 }, t;

	RET(mtx_init(&m, kind), thrd_success);
	RET(cnd_init(&cond), thrd_success);
	RET(mtx_lock(&m), thrd_success);
	EQ(other(try_body), thrd_busy);
	EQ(other(timed_body), 0);
	if (kind & mtx_recursive) {
		RET(mtx_lock(&m), thrd_success);
		RET(mtx_trylock(&m), thrd_success);
		RET(mtx_timedlock(&m, &past), thrd_success);
		EQ(other(unlock_body), thrd_error);
		for (int i = 0; i < 3; i++)
			RET(mtx_unlock(&m), thrd_success);
		EQ(other(try_body), thrd_busy);
	} else {
		RET(mtx_trylock(&m), thrd_busy);
		t = in_ms(CLOCK_REALTIME, 10);
		RET(mtx_timedlock(&m, &t), thrd_timedout);
		EXPECT(reached(CLOCK_REALTIME, t));
	}
	t = in_ms(CLOCK_REALTIME, 20);
	RET(cnd_timedwait(&cond, &m, &t), thrd_timedout);
	EXPECT(reached(CLOCK_REALTIME, t));
	EQ(other(try_body), thrd_busy);
	t.tv_nsec = -1;
	RET(cnd_timedwait(&cond, &m, &t), thrd_error);
	RET(mtx_unlock(&m), thrd_success);
	EQ(other(try_body), thrd_success);
	RET(mtx_timedlock(&m, &past), thrd_success);
	RET(mtx_unlock(&m), thrd_success);
	if (kind & mtx_recursive)
		RET(mtx_unlock(&m), thrd_error);

	STAGE(kind);
	test_signal();
	counter = ping = 0;
	all(count_body);
	EQ(counter, WORKERS * ROUNDS);
	all(ping_body);
	EQ(ping, WORKERS * 200);
	cnd_destroy(&cond);
	mtx_destroy(&m);
}

int main(void)
{
	static const int kinds[] = { mtx_plain, mtx_timed,
				     mtx_plain | mtx_recursive,
				     mtx_timed | mtx_recursive };

	for (int i = 0; i < LEN(kinds); i++) {
		kind = kinds[i];
		test_kind();
	}
	test_unknown_kind();
	return 0;
}
