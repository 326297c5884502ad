/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Real-time threads that sleep for a lock or a condition variable are served by
 * priority. Policies whose mutex never sleeps promise no order.
 */
#include "one_of_each.h"

#include <sys/syscall.h>

#define WAITERS 3

static int served[WAITERS], count;
static atomic_int tids[WAITERS];
static void (*take)(void), (*give)(void);

/* Each token is taken before the next one is given. */
static void give_tokens(void)
{
	int left;

	for (int i = 0; i < WAITERS; i++) {
		lock();
		tokens++;
		RET(pthread_cond_signal(&cond), 0);
		unlock();
		do {
			nap_us(1000);
			lock();
			left = tokens;
			unlock();
		} while (left);
	}
}

static int set_policy(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return pthread_setschedparam(pthread_self(), policy, &param);
}

/* The later it comes, the higher its priority. */
static void *waiter(void *arg)
{
	int me = (int)(intptr_t)arg;

	EQ(set_policy(SCHED_FIFO, 10 + me), 0);
	atomic_store(&tids[me], (int)syscall(SYS_gettid));
	take();
	served[count++] = me;
	give();
	return NULL;
}

/* They queue while the main thread holds; @serve lets them have it. */
static void by_priority(void (*serve)(void), bool promised)
{
	pthread_t threads[WAITERS];

	count = 0;
	for (intptr_t i = 0; i < WAITERS; i++) {
		STAGE(i);
		atomic_store(&tids[i], 0);
		EQ(pthread_create(&threads[i], NULL, waiter, (void *)i), 0);
		wait_asleep(&tids[i]);
	}
	serve();
	finish(threads, WAITERS);
	EQ(count, WAITERS);
	for (int i = 0; promised && i < WAITERS; i++)
		EQ(served[i], WAITERS - 1 - i);
}

int main(void)
{
	const char *policy = getenv("LOCKWORK_LOCK");
	bool sleeps = !policy || !strncmp(policy, "mutex", 5);

	if (set_policy(SCHED_FIFO, 10 + WAITERS) == EPERM) {
		puts("this user may not set real-time priorities");
		return NOT_RUN;
	}
	EQ(set_policy(SCHED_OTHER, 0), 0);

	take = lock;
	give = unlock;
	lock();
	by_priority(unlock, sleeps);

	/* glibc lets the writer that came first be the first. */
	take = wrlock;
	give = rwunlock;
	wrlock();
	by_priority(rwunlock, expect_lockwork());

	take = take_token;
	give = unlock;
	by_priority(give_tokens, true);
	return 0;
}
