/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Futex wake-ups that nobody in the lock meant: memory is reused, and the
 * last unlock of a dead object wakes a thread that waits at that address now.
 * Every word of every object is woken all the time; nothing may come of it.
 */
#include "expect.h"
#include <linux/futex.h>
#include <sys/syscall.h>

enum { THREADS = 8, ROUNDS = 4000 };

static struct {
	pthread_mutex_t m;
	pthread_cond_t c;
	pthread_rwlock_t rw;
	pthread_spinlock_t spin;
} o = { .m = PTHREAD_MUTEX_INITIALIZER,
	.c = PTHREAD_COND_INITIALIZER,
	.rw = PTHREAD_RWLOCK_INITIALIZER };

static atomic_int stop;
static long counter, rw_counter, turn, sleeps;

static void *waker(void *arg)
{
	while (!stop) {
		for (char *word = (char *)&o; word < (char *)(&o + 1);
		     word += 4) {
			syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX,
				0, 0, 0);
			syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, 0, 0,
				0);
		}
		sched_yield();
	}
	return arg;
}

static void *body(void *arg)
{
	int me = (intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct timespec t = in_ms(CLOCK_MONOTONIC, 1);
		int ret;

		RET(pthread_mutex_lock(&o.m), 0);
		counter++;
		if (i % 64 == 0)
			sched_yield();
		if (i % 16 == 0) {
			while (turn % THREADS != me)
				RET(pthread_cond_wait(&o.c, &o.m), 0);
			turn++;
			RET(pthread_cond_broadcast(&o.c), 0);
		}
		if (i % 400 == 0) {
			ret = pthread_cond_clockwait(&o.c, &o.m,
						     CLOCK_MONOTONIC, &t);
			if (ret) {
				EQ(ret, ETIMEDOUT);
				EXPECT(reached(CLOCK_MONOTONIC, t));
				sleeps++;
			}
		}
		RET(pthread_mutex_unlock(&o.m), 0);
		if (i % 3) {
			RET(pthread_rwlock_rdlock(&o.rw), 0);
		} else {
			t = in_ms(CLOCK_MONOTONIC, 1);
			ret = pthread_rwlock_clockwrlock(&o.rw, CLOCK_MONOTONIC,
							 &t);
			if (ret) {
				EQ(ret, ETIMEDOUT);
				EXPECT(reached(CLOCK_MONOTONIC, t));
				RET(pthread_rwlock_wrlock(&o.rw), 0);
			}
			rw_counter++;
		}
		RET(pthread_rwlock_unlock(&o.rw), 0);
		if (i % 10 == 0) {
			RET(pthread_spin_lock(&o.spin), 0);
			RET(pthread_spin_unlock(&o.spin), 0);
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t wakers;

	RET(pthread_spin_init(&o.spin, PTHREAD_PROCESS_PRIVATE), 0);
	EQ(pthread_create(&wakers, NULL, waker, NULL), 0);
	STAGE(0);
	run(THREADS, body);
	stop = 1;
	EQ(pthread_join(wakers, NULL), 0);
	EQ(counter, THREADS * ROUNDS);
	EQ(rw_counter, THREADS * ((ROUNDS + 2) / 3));
	EQ(turn, THREADS * (ROUNDS / 16));
	return 0;
}
