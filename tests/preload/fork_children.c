/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Children that are programs of their own: they inherit locks in use, start
 * threads, wait, fork again, and the parent goes on as if nothing had been.
 */
#include "expect.h"

enum { FORKS = 60, THREADS = 6, LAPS = 60 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER,
		       busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static long token, counter, busy_counter;
static atomic_int stop;

static void *body(void *arg)
{
	int me = (intptr_t)arg;

	for (int i = 0; i < LAPS; i++) {
		RET(pthread_mutex_lock(&m), 0);
		while (token % THREADS != me)
			RET(pthread_cond_wait(&cond, &m), 0);
		token++;
		RET(pthread_cond_broadcast(&cond), 0);
		RET(pthread_mutex_unlock(&m), 0);
		RET(pthread_rwlock_wrlock(&rw), 0);
		counter++;
		RET(pthread_rwlock_unlock(&rw), 0);
		RET(pthread_rwlock_rdlock(&rw), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
	}
	return NULL;
}

static void use_all(void)
{
	token = counter = 0;
	run(THREADS, body);
	EQ(token, THREADS * LAPS);
	EQ(counter, THREADS * LAPS);
}

/* Keeps a lock hot across every fork. */
static void *hammer(void *arg)
{
	while (!stop) {
		RET(pthread_mutex_lock(&busy), 0);
		busy_counter++;
		RET(pthread_mutex_unlock(&busy), 0);
		if (busy_counter % 64 == 0)
			sched_yield();
	}
	return arg;
}

static void generation(int depth)
{
	pid_t pid;

	use_all();
	/* The thread that forks holds `busy`, so the child owns it too. */
	RET(pthread_mutex_lock(&busy), 0);
	pid = fork();
	if (pid == 0) {
		struct timespec t;

		RET(pthread_mutex_trylock(&busy), EBUSY);
		RET(pthread_mutex_unlock(&busy), 0);
		RET(pthread_mutex_lock(&m), 0);
		t = in_ms(CLOCK_REALTIME, 1);
		RET(pthread_cond_timedwait(&cond, &m, &t), ETIMEDOUT);
		RET(pthread_mutex_unlock(&m), 0);
		use_all();
		if (depth)
			generation(depth - 1);
		RET(pthread_mutex_destroy(&m), 0);
		RET(pthread_cond_destroy(&cond), 0);
		_exit(0);
	}
	RET(pthread_mutex_unlock(&busy), 0);
	reap(pid);
}

/* Two threads fork at the same time. */
static void *forker(void *arg)
{
	for (int i = 0; i < FORKS / 2; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pthread_t threads[2];

			RET(pthread_mutex_init(&busy, NULL), 0);
			stop = 0;
			start(threads, 2, hammer);
			nap_us(100);
			stop = 1;
			finish(threads, 2);
			exit(0);
		}
		reap(pid);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[3];
	pid_t pid;

	/* A process that has never had a second thread forks first. */
	RET(pthread_mutex_lock(&busy), 0);
	pid = fork();
	if (pid == 0) {
		RET(pthread_mutex_unlock(&busy), 0);
		use_all();
		_exit(0);
	}
	RET(pthread_mutex_unlock(&busy), 0);
	reap(pid);

	start(threads, 3, hammer);
	for (int i = 0; i < FORKS / 6; i++) {
		STAGE(i);
		generation(2);
	}
	STAGE(-1);
	run(2, forker);
	stop = 1;
	finish(threads, 3);
	use_all();
	return 0;
}
