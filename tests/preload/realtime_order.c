/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Real-time threads that sleep for a lock or a condition variable are served by
 * priority. Policies whose mutex never sleeps promise no order.
 */
#include "one_of_each.h"

#include <sys/syscall.h>
#include <time.h>

#define WAITERS 3
/* A sleeper looks again after 32 ms, and may take what is free: the order ends then. */
#define ORDERED_MS 30
#define ATTEMPTS   1000

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

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/*
 * They queue, and @serve lets them have it. False: the order was promised, but all of this
 * took too long.
 */
static bool serve_them(void (*serve)(void), bool promised)
{
	long long began = now_ms();
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
	if (!promised)
		return true;
	if (now_ms() - began >= ORDERED_MS)
		return false;
	for (int i = 0; i < WAITERS; i++)
		EQ(served[i], WAITERS - 1 - i);
	return true;
}

/* The main thread takes it by @hold, if it is a lock, until @serve. */
static void by_priority(void (*hold)(void), void (*serve)(void), bool promised)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		if (hold)
			hold();
		if (serve_them(serve, promised))
			return;
	}
	puts("this machine is too slow to see an order");
	exit(NOT_RUN);
}

int main(void)
{
	const char *policy = getenv("LOCKWORK_LOCK");
	bool sleeps = !policy || !strncmp(policy, "mutex", 5);

	if (set_policy(SCHED_FIFO, 10 + WAITERS) == EPERM) {
		puts("this user may not set real-time priorities");
		return NOT_RUN;
	}
	/* Below the waiters, and before all other programs. */
	EQ(set_policy(SCHED_FIFO, 1), 0);

	take = lock;
	give = unlock;
	by_priority(lock, unlock, sleeps);

	/* glibc lets the writer that came first be the first. */
	take = wrlock;
	give = rwunlock;
	by_priority(wrlock, rwunlock, expect_lockwork());

	take = take_token;
	give = unlock;
	by_priority(NULL, give_tokens, true);
	return 0;
}
