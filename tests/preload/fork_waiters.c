/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fork() while threads queue on everything.  In the child those threads do
 * not exist: nothing may be handed to them, and the one that forked may let
 * go of what it held and use it all again.
 */
#include "expect.h"

enum { PER_LOCK = 3, FORKS = 40 };

static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP,
			     PTHREAD_MUTEX_RECURSIVE,
			     PTHREAD_MUTEX_ERRORCHECK };
static pthread_mutex_t locks[4]; /* held by the thread that forks */
static pthread_mutex_t alien = PTHREAD_MUTEX_INITIALIZER; /* held by another */
static pthread_mutex_t cond_m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t readed = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int asleep, stop;
static int waiting, woken;
static long counter;

static void *mutex_waiter(void *arg)
{
	asleep++;
	RET(pthread_mutex_lock(&locks[(intptr_t)arg / PER_LOCK]), 0);
	RET(pthread_mutex_unlock(&locks[(intptr_t)arg / PER_LOCK]), 0);
	return NULL;
}

static void *rw_waiter(void *arg)
{
	int me = (intptr_t)arg;

	asleep++;
	if (me == 0)
		RET(pthread_rwlock_wrlock(&readed), 0);
	else if (me < 3)
		RET(pthread_rwlock_wrlock(&written), 0);
	else
		RET(pthread_rwlock_rdlock(&written), 0);
	RET(pthread_rwlock_unlock(me ? &written : &readed), 0);
	return NULL;
}

static void *cond_waiter(void *arg)
{
	RET(pthread_mutex_lock(&cond_m), 0);
	waiting++;
	asleep++;
	while (!stop)
		RET(pthread_cond_wait(&cond, &cond_m), 0);
	RET(pthread_mutex_unlock(&cond_m), 0);
	return arg;
}

static void *alien_holder(void *arg)
{
	RET(pthread_mutex_lock(&alien), 0);
	asleep++;
	while (!stop)
		nap_us(1000);
	RET(pthread_mutex_unlock(&alien), 0);
	return arg;
}

static void *alien_waiter(void *arg)
{
	asleep++;
	RET(pthread_mutex_lock(&alien), 0);
	RET(pthread_mutex_unlock(&alien), 0);
	return arg;
}

static void *child_body(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_t *m = &locks[i % 4];

		RET(pthread_mutex_lock(m), 0);
		RET(pthread_mutex_lock(&alien), 0);
		counter++;
		RET(pthread_mutex_unlock(&alien), 0);
		RET(pthread_mutex_unlock(m), 0);
	}
	RET(pthread_mutex_lock(&cond_m), 0);
	woken++;
	RET(pthread_cond_broadcast(&cond), 0);
	while (woken < 4)
		RET(pthread_cond_wait(&cond, &cond_m), 0);
	RET(pthread_mutex_unlock(&cond_m), 0);
	if (expect_lockwork()) {
		RET(pthread_rwlock_rdlock(&written), 0);
		RET(pthread_rwlock_unlock(&written), 0);
		RET(pthread_rwlock_wrlock(&readed), 0);
		counter++;
		RET(pthread_rwlock_unlock(&readed), 0);
	}
	return arg;
}

static void child(int with_threads)
{
	for (int i = 0; i < LEN(types); i++) {
		int ret = pthread_mutex_unlock(&locks[i]);

		/* glibc's owner is a thread id, and the child has a new one. */
		if (ret == EPERM && i > 1)
			RET(pthread_mutex_init(&locks[i], NULL), 0);
		else
			EQ(ret, 0);
		RET(pthread_mutex_trylock(&locks[i]), 0);
		RET(pthread_mutex_unlock(&locks[i]), 0);
		RET(pthread_mutex_lock(&locks[i]), 0);
		RET(pthread_mutex_unlock(&locks[i]), 0);
	}
	RET(pthread_mutex_trylock(&alien), EBUSY);
	RET(pthread_mutex_init(&alien, NULL), 0);
	RET(pthread_mutex_lock(&cond_m), 0);
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_mutex_unlock(&cond_m), 0);
	RET(pthread_cond_init(&cond, NULL), 0);
	if (expect_lockwork()) {
		/* glibc hands both to a writer that is not there. */
		RET(pthread_rwlock_unlock(&written), 0);
		RET(pthread_rwlock_unlock(&readed), 0);
		RET(pthread_rwlock_wrlock(&written), 0);
		RET(pthread_rwlock_unlock(&written), 0);
		RET(pthread_rwlock_rdlock(&readed), 0);
		RET(pthread_rwlock_unlock(&readed), 0);
	}
	if (with_threads) {
		run(4, child_body);
		EQ(counter, expect_lockwork() ? 804 : 800);
	}
	_exit(0);
}

static void *forker(void *arg)
{
	pthread_t mutexes[4 * PER_LOCK], rws[6], conds[4], aliens[3];

	for (int i = 0; i < LEN(types); i++) {
		mutex_of_type(&locks[i], types[i]);
		RET(pthread_mutex_lock(&locks[i]), 0);
	}
	RET(pthread_rwlock_wrlock(&written), 0);
	RET(pthread_rwlock_rdlock(&readed), 0);
	EQ(pthread_create(&aliens[0], NULL, alien_holder, NULL), 0);
	while (asleep < 1)
		sched_yield();
	start(mutexes, 4 * PER_LOCK, mutex_waiter);
	start(rws, 6, rw_waiter);
	start(conds, 4, cond_waiter);
	start(aliens + 1, 2, alien_waiter);
	while (asleep < 4 * PER_LOCK + 6 + 4 + 3)
		sched_yield();
	nap_us(20000);
	for (int i = 0; i < FORKS; i++) {
		pid_t pid;

		STAGE(i);
		RET(pthread_mutex_lock(&cond_m), 0); /* all four are inside */
		RET(pthread_mutex_unlock(&cond_m), 0);
		/* _Fork() runs no atfork handler, whoever registered it. */
		pid = i % 4 ? fork() : _Fork();
		if (pid == 0)
			child(i % 4);
		reap(pid);
	}
	STAGE(-1);
	for (int i = 0; i < LEN(types); i++)
		RET(pthread_mutex_unlock(&locks[i]), 0);
	RET(pthread_rwlock_unlock(&written), 0);
	RET(pthread_rwlock_unlock(&readed), 0);
	RET(pthread_mutex_lock(&cond_m), 0);
	EQ(waiting, 4);
	stop = 1;
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_mutex_unlock(&cond_m), 0);
	finish(mutexes, 4 * PER_LOCK);
	finish(rws, 6);
	finish(conds, 4);
	finish(aliens, 3);
	return arg;
}

int main(void)
{
	forker(NULL);
	asleep = stop = waiting = 0;
	run(1, forker); /* not the main thread */
	return 0;
}
