/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pthread_atfork as libraries use it: prepare takes their locks, which others
 * fight over, parent and child let them go, or the child makes them anew.
 */
#include "expect.h"

enum { LOCKS = 5, FORKS = 200, WORKERS = 4 };

static pthread_mutex_t locks[LOCKS];
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long counters[LOCKS], rw_counter, spin_counter;
static atomic_int stop;

static const int types[LOCKS] = { PTHREAD_MUTEX_NORMAL,
				  PTHREAD_MUTEX_ADAPTIVE_NP,
				  PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				  PTHREAD_MUTEX_ERRORCHECK };

static void prepare(void)
{
	for (int i = 0; i < LOCKS; i++)
		RET(pthread_mutex_lock(&locks[i]), 0);
	RET(pthread_rwlock_rdlock(&rw), 0);
	RET(pthread_spin_lock(&spin), 0);
}

static void parent(void)
{
	RET(pthread_spin_unlock(&spin), 0);
	RET(pthread_rwlock_unlock(&rw), 0);
	for (int i = LOCKS; i-- > 0;)
		RET(pthread_mutex_unlock(&locks[i]), 0);
}

static void child(void)
{
	RET(pthread_spin_unlock(&spin), 0);
	RET(pthread_rwlock_init(&rw, NULL), 0); /* writers may have queued */
	for (int i = LOCKS; i-- > 0;) {
		if (types[i] == PTHREAD_MUTEX_NORMAL ||
		    types[i] == PTHREAD_MUTEX_ADAPTIVE_NP)
			RET(pthread_mutex_unlock(&locks[i]), 0);
		else
			mutex_of_type(&locks[i], types[i]);
	}
}

/* Libraries also have handlers that only unlock what prepare locked. */
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;

static void second_prepare(void)
{
	RET(pthread_mutex_lock(&second), 0);
}

static void second_after(void)
{
	RET(pthread_mutex_unlock(&second), 0);
}

static void work(int me, long i)
{
	pthread_mutex_t *m = &locks[(me + i) % LOCKS];

	RET(pthread_mutex_lock(&second), 0);
	RET(pthread_mutex_unlock(&second), 0);
	RET(pthread_mutex_lock(m), 0);
	counters[(me + i) % LOCKS]++;
	if (i % 8 == 0 && (me + i) % LOCKS < LOCKS - 1) {
		RET(pthread_mutex_lock(m + 1), 0); /* the order of prepare */
		RET(pthread_mutex_unlock(m + 1), 0);
	}
	RET(pthread_mutex_unlock(m), 0);
	if (i % 4 == 0)
		RET(pthread_rwlock_wrlock(&rw), 0);
	else
		RET(pthread_rwlock_rdlock(&rw), 0);
	rw_counter += i % 4 == 0;
	RET(pthread_rwlock_unlock(&rw), 0);
	RET(pthread_spin_lock(&spin), 0);
	spin_counter++;
	RET(pthread_spin_unlock(&spin), 0);
}

static void *parent_worker(void *arg)
{
	for (long i = 0; !stop; i++) {
		work((intptr_t)arg, i);
		if (i % 4 == 0)
			sched_yield();
	}
	return NULL;
}

static void *child_worker(void *arg)
{
	for (long i = 0; i < 50; i++)
		work((intptr_t)arg, i);
	return NULL;
}

int main(void)
{
	pthread_t workers[WORKERS];

	for (int i = 0; i < LOCKS; i++)
		mutex_of_type(&locks[i], types[i]);
	RET(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	EQ(pthread_atfork(prepare, parent, child), 0);
	EQ(pthread_atfork(second_prepare, second_after, second_after), 0);
	start(workers, WORKERS, parent_worker);
	for (int i = 0; i < FORKS; i++) {
		long before;
		pid_t pid;

		STAGE(i);
		pid = fork();
		if (pid) {
			reap(pid);
			continue;
		}
		before = spin_counter;
		run(3, child_worker);
		EQ(spin_counter, before + 3 * 50);
		for (int k = 0; k < LOCKS; k++) {
			RET(pthread_mutex_trylock(&locks[k]), 0);
			RET(pthread_mutex_unlock(&locks[k]), 0);
			RET(pthread_mutex_destroy(&locks[k]), 0);
		}
		if (i % 20 == 0)
			exit(0); /* with destructors */
		_exit(0);
	}
	stop = 1;
	finish(workers, WORKERS);
	return 0;
}
