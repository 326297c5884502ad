/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Robust mutexes: the owner dies, the next one is told. */
#include "expect.h"

static pthread_mutex_t *m;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting;

static void make_robust(int type, int shared)
{
	pthread_mutexattr_t attr;

	EQ(pthread_mutexattr_init(&attr), 0);
	EQ(pthread_mutexattr_settype(&attr, type), 0);
	EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
	EQ(pthread_mutexattr_setpshared(&attr, shared), 0);
	RET(pthread_mutex_init(m, &attr), 0);
	EQ(pthread_mutexattr_destroy(&attr), 0);
}

static void die_holding(void)
{
	EQ(other_mutex(pthread_mutex_lock, m), 0);
}

static void test_thread_death(int type)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3600 * 1000L);

	make_robust(type, PTHREAD_PROCESS_PRIVATE);
	die_holding();
	RET(pthread_mutex_lock(m), EOWNERDEAD);
	RET(pthread_mutex_consistent(m), 0);
	RET(pthread_mutex_unlock(m), 0);
	RET(pthread_mutex_consistent(m), EINVAL);
	die_holding();
	RET(pthread_mutex_trylock(m), EOWNERDEAD);
	EQ(other_mutex(pthread_mutex_trylock, m), EBUSY);
	RET(pthread_mutex_consistent(m), 0);
	RET(pthread_mutex_unlock(m), 0);
	die_holding();
	RET(pthread_mutex_timedlock(m, &t), EOWNERDEAD);
	RET(pthread_mutex_unlock(m), 0); /* not made consistent */
	RET(pthread_mutex_lock(m), ENOTRECOVERABLE);
	RET(pthread_mutex_trylock(m), ENOTRECOVERABLE);
	RET(pthread_mutex_destroy(m), 0);
}

static atomic_int next;

/* Blocks in lock while the owner dies. */
static void *heir(void *arg)
{
	int ret = pthread_mutex_lock(m);

	if (ret == EOWNERDEAD) {
		next++;
		RET(pthread_mutex_consistent(m), 0);
	} else {
		EQ(ret, 0);
	}
	RET(pthread_mutex_unlock(m), 0);
	return arg;
}

static void *dying_owner(void *arg)
{
	RET(pthread_mutex_lock(m), 0);
	next = 100;
	nap_us(10000);
	return arg;
}

static void test_heirs(void)
{
	pthread_t owner, heirs[4];

	make_robust(PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE);
	next = 0;
	EQ(pthread_create(&owner, NULL, dying_owner, NULL), 0);
	while (next != 100)
		sched_yield();
	start(heirs, 4, heir);
	finish(heirs, 4);
	EQ(pthread_join(owner, NULL), 0);
	EQ(next, 101); /* exactly one was told */
	RET(pthread_mutex_destroy(m), 0);
}

static void test_process_death(void)
{
	pid_t pid;

	make_robust(PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < 20; i++) {
		pid = fork();
		if (pid == 0) {
			RET(pthread_mutex_lock(m), 0);
			_exit(0);
		}
		reap(pid);
		RET(pthread_mutex_lock(m), EOWNERDEAD);
		RET(pthread_mutex_consistent(m), 0);
		RET(pthread_mutex_unlock(m), 0);
	}
	RET(pthread_mutex_destroy(m), 0);
}

static void *cond_waiter(void *arg)
{
	RET(pthread_mutex_lock(m), 0);
	waiting = 1;
	int ret;

	do
		ret = pthread_cond_wait(&cond, m);
	while (ret == 0 && waiting);
	EQ(ret, EOWNERDEAD);
	RET(pthread_mutex_consistent(m), 0);
	RET(pthread_mutex_unlock(m), 0);
	return arg;
}

static void *signal_and_die(void *arg)
{
	RET(pthread_mutex_lock(m), 0);
	waiting = 0;
	RET(pthread_cond_signal(&cond), 0);
	return arg;
}

/* The mutex a condition variable hands back has lost its owner. */
static void test_cond(void)
{
	pthread_t waiter, killer;

	make_robust(PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE);
	EQ(pthread_create(&waiter, NULL, cond_waiter, NULL), 0);
	for (int ready = 0; !ready;) {
		RET(pthread_mutex_lock(m), 0);
		ready = waiting;
		RET(pthread_mutex_unlock(m), 0);
		sched_yield();
	}
	EQ(pthread_create(&killer, NULL, signal_and_die, NULL), 0);
	EQ(pthread_join(killer, NULL), 0);
	EQ(pthread_join(waiter, NULL), 0);
	RET(pthread_mutex_destroy(m), 0);
}

int main(void)
{
	m = map_pages(4096, MAP_SHARED);
	test_thread_death(PTHREAD_MUTEX_NORMAL);
	test_thread_death(PTHREAD_MUTEX_RECURSIVE);
	test_thread_death(PTHREAD_MUTEX_ERRORCHECK);
	test_heirs();
	test_process_death();
	test_cond();
	return 0;
}
