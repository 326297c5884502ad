/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The first in line sits in a signal handler until the second has been served: it
 * keeps nobody from a free lock, and a signal goes to a waiter that can take it.
 */
#include "one_of_each.h"

#include <sys/syscall.h>

static int served[2];
static atomic_int in_handler, tids[2];
static void (*take)(void), (*give)(void);

static void handler(int sig)
{
	char byte;

	(void)sig;
	atomic_store(&in_handler, 1);
	while (read(served[0], &byte, 1) != 1)
		;
}

static void give_token(void)
{
	lock();
	tokens++;
	RET(pthread_cond_signal(&cond), 0);
	unlock();
}

static void *waiter(void *arg)
{
	int id = arg != NULL;

	atomic_store(&tids[id], (int)syscall(SYS_gettid));
	take();
	if (id == 1)
		EQ(write(served[1], "x", 1), 1);
	give();
	return NULL;
}

/* @hold and @release: what keeps both waiting, and what ends that. */
static void second_is_served(void (*hold)(void), void (*release)(void))
{
	pthread_t threads[2];

	atomic_store(&in_handler, 0);
	if (hold)
		hold();
	for (long id = 0; id < 2; id++) {
		atomic_store(&tids[id], 0);
		EQ(pthread_create(&threads[id], NULL, waiter, (void *)id), 0);
		wait_asleep(&tids[id]);
	}
	STAGE(1);
	EQ(pthread_kill(threads[0], SIGUSR1), 0);
	while (!atomic_load(&in_handler))
		sched_yield();
	STAGE(2);
	release();
	EQ(pthread_join(threads[1], NULL), 0);
	STAGE(3);
	if (release == give_token)
		give_token(); /* the first has had a signal, but no token */
	EQ(pthread_join(threads[0], NULL), 0);
}

int main(void)
{
	struct sigaction act = { .sa_handler = handler };
	const char *policy = getenv("LOCKWORK_LOCK");

	EQ(pipe(served), 0);
	EQ(sigaction(SIGUSR1, &act, NULL), 0);
	for (long round = 0; round < 20; round++) {
		/* A spinning policy's waiters do not sleep: they keep their place. */
		if (!policy || strncmp(policy, "qspinlock", 9)) {
			take = lock, give = unlock;
			second_is_served(lock, unlock);
		}
		take = wrlock, give = rwunlock;
		second_is_served(wrlock, rwunlock);
		take = rdlock;
		second_is_served(wrlock, rwunlock);
		take = take_token, give = unlock;
		second_is_served(NULL, give_token);
	}
	return 0;
}
