/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A forked child's unlock of a mutex that a thread slept for at the fork, and a
 * signal handler that tries the mutex, at each instruction of that unlock.
 */
#define _GNU_SOURCE
#include "check.h"

#include "../step.h"
#include <platform.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static lw_mutex_t mutex = LW_MUTEX_INIT;

static void *sleeper(void *unused)
{
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

static _Noreturn void child(long steps)
{
	alarm(100);	    /* to be found by its status */
	(void)wait_epoch(); /* is long and holds signals back: not stepped */
	_exit(step_into(unlock, try_it, steps) ? 0 : 2);
}

void check_fork_handler(void)
{
	pthread_t thread;

	lw_mutex_lock(&mutex);
	CHECK(!pthread_create(&thread, NULL, sleeper, NULL));
	usleep(100000); /* until it sleeps, most likely */
	for (long steps = 1, last = 0; !last; steps++) {
		pid_t pid = fork();
		int status;

		CHECK(pid >= 0);
		if (!pid)
			child(steps);
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		last = WEXITSTATUS(status) == 2;
		CHECK(last || WEXITSTATUS(status) == 0);
		CHECK(!last || steps > 3);
	}
	lw_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}
