/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * libc's own code sleeps for a mutex beside a timed waiter that came by the interposer.
 * The unlock finds the timed waiter, whose time is up already, in a signal handler. It
 * leaves; the wake-up that was meant for it goes to libc's waiter.
 */
#include "in_handler.h"

#include <sys/syscall.h>

enum { ROUNDS = 20, LATE_MS = 50 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int (*libc_lock)(pthread_mutex_t *), (*libc_unlock)(pthread_mutex_t *);
static atomic_int tids[2];
static atomic_int done;
static struct timespec deadline;

static void *foreign(void *arg)
{
	atomic_store(&tids[0], (int)syscall(SYS_gettid));
	RET(libc_lock(&m), 0);
	RET(libc_unlock(&m), 0);
	return arg;
}

/* It does not run as long as the main thread wants this CPU. */
static void *timed(void *arg)
{
	struct sched_param none = { 0 };
	int ret;

	EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	atomic_store(&tids[1], (int)syscall(SYS_gettid));
	ret = pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &deadline);
	if (!ret)
		RET(pthread_mutex_unlock(&m), 0);
	else
		EQ(ret, ETIMEDOUT);
	/* The signal may come late. */
	while (!atomic_load(&done))
		nap_us(100);
	return arg;
}

/* All threads run on the CPU of the main thread. */
static void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

static struct timespec later(struct timespec t, long ms)
{
	long long ns = t.tv_nsec + ms * 1000000ll;

	t.tv_sec += ns / 1000000000;
	t.tv_nsec = ns % 1000000000;
	return t;
}

static void wait_started(atomic_int *tid)
{
	while (!atomic_load(tid))
		nap_us(100);
}

int main(void)
{
	const char *policy = getenv("LOCKWORK_LOCK");
	bool spins = policy && !strncmp(policy, "qspinlock", 9);
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	pthread_t threads[2];

	EXPECT(handle);
	*(void **)&libc_lock = dlsym(handle, "pthread_mutex_lock");
	*(void **)&libc_unlock = dlsym(handle, "pthread_mutex_unlock");
	EXPECT(libc_lock && libc_unlock);
	handler_install();
	stay_on_one_cpu();
	for (long round = 0; round < ROUNDS; round++) {
		STAGE(round);
		RET(pthread_mutex_lock(&m), 0);
		deadline = in_ms(CLOCK_MONOTONIC, LATE_MS);
		atomic_store(&done, 0);
		atomic_store(&tids[0], 0);
		atomic_store(&tids[1], 0);
		EQ(pthread_create(&threads[0], NULL, foreign, NULL), 0);
		wait_asleep(&tids[0]);
		EQ(pthread_create(&threads[1], NULL, timed, NULL), 0);
		if (spins)
			wait_started(&tids[1]);
		else
			wait_asleep(&tids[1]);
		while (!reached(CLOCK_MONOTONIC, later(deadline, 2)))
			;
		/* The handler runs when the sleep has ended. */
		EQ(pthread_kill(threads[1], SIGUSR1), 0);
		while (!atomic_load(&in_handler))
			nap_us(100);
		RET(pthread_mutex_unlock(&m), 0);
		handler_ends();
		while (atomic_load(&in_handler))
			nap_us(100);
		atomic_store(&done, 1);
		finish(threads, 2);
	}
	return 0;
}
