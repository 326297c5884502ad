/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * posix_spawn, vfork and system beside contended locks.  Their children share
 * or copy the memory for a moment, and must leave no mark on it.
 */
#include "expect.h"
#include <spawn.h>

extern char **environ;

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter, mine[4], token;
static atomic_int stop;

static void *hammer(void *arg)
{
	int me = (intptr_t)arg;

	while (!stop) {
		RET(pthread_mutex_lock(&m), 0);
		counter++;
		mine[me]++;
		RET(pthread_mutex_unlock(&m), 0);
		if (mine[me] % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void *pingpong(void *arg)
{
	int me = (intptr_t)arg;

	RET(pthread_mutex_lock(&m), 0);
	while (!stop) {
		while (token % 2 != me && !stop)
			RET(pthread_cond_wait(&cond, &m), 0);
		token++;
		RET(pthread_cond_signal(&cond), 0);
	}
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return NULL;
}

int main(int argc, char **argv)
{
	char *args[] = { argv[0], "child", NULL };
	pthread_t threads[4], pair[2];
	long sum = 0;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "child")) {
		RET(pthread_mutex_lock(&m), 0);
		RET(pthread_mutex_unlock(&m), 0);
		return 0;
	}
	start(threads, 4, hammer);
	start(pair, 2, pingpong);
	for (int i = 0; i < 40; i++) {
		STAGE(i);
		/* vfork: the parent's memory, and this thread's locks. */
		RET(pthread_mutex_lock(&m), 0);
		pid = vfork();
		if (pid == 0)
			_exit(0);
		RET(pthread_mutex_unlock(&m), 0);
		reap(pid);
		EQ(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args,
			       environ),
		   0);
		reap(pid);
		if (i % 8 == 0)
			EQ(system("exit 0"), 0);
	}
	stop = 1;
	finish(threads, 4);
	finish(pair, 2);
	for (int i = 0; i < 4; i++)
		sum += mine[i];
	EQ(counter, sum);
	return 0;
}
