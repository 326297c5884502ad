/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A forked child's unlock of a mutex that a thread slept for at the fork, and a
 * signal handler that tries the mutex, at each instruction of that unlock. Only x86-64 can
 * step so: elsewhere the test says that it is left out.
 */
#define _GNU_SOURCE
#include "expect.h"

#ifdef __x86_64__
#include "../asleep.h"
#include "../step.h"
#include <platform.h>
#include <pthread.h>
#include <sys/syscall.h>

static lw_mutex_t mutex = LW_MUTEX_INIT;

static int sleeper_tid;

static void *sleeper(void *unused)
{
	WRITE_ONCE(sleeper_tid, (int)syscall(SYS_gettid));
	lw_mutex_lock(&mutex);
	lw_mutex_unlock(&mutex);
	return unused;
}

static void unlock(void)
{
	lw_mutex_unlock(&mutex);
}

static void try_it(void)
{
	if (lw_mutex_trylock(&mutex))
		lw_mutex_unlock(&mutex);
}

/* Is long and holds signals back: not what is stepped through. */
static void notice_fork(void)
{
	(void)wait_epoch();
}

void test_fork_handler(void)
{
	pthread_t thread;
	int stepped = 1;
	long steps;

	lw_mutex_lock(&mutex);
	EXPECT(!pthread_create(&thread, NULL, sleeper, NULL));
	while (!is_asleep(READ_ONCE(sleeper_tid)))
		usleep(1000);
	for (steps = 1; stepped; steps++) {
		stepped = step_into_child(notice_fork, unlock, try_it, steps);
		EXPECT(stepped >= 0);
	}
	EXPECT(steps > 4);
	lw_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

#else

void test_fork_handler(void)
{
	puts("left out: a handler at each instruction of an unlock");
}

#endif
