/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A storm of signals without SA_RESTART.  No wait ends early, no call gives
 * EINTR, and the handler may use locks of its own while the interrupted code
 * is in the middle of another.
 */
#include "expect.h"

enum { WAITERS = 8, ROUNDS = 400 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER,
		       inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER,
		      never = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_t threads[WAITERS];
static atomic_int stop, over, done, ready;
static atomic_long handled;
static long turn, counter[2], inner_count, tried, spun;

/* Only handlers take these, and a handler is not interrupted. */
static void handler(int sig)
{
	int saved = errno;

	(void)sig;
	handled++;
	RET(pthread_mutex_lock(&inner), 0);
	inner_count++;
	RET(pthread_mutex_unlock(&inner), 0);
	if (pthread_mutex_trylock(&inner) == 0) {
		tried++;
		RET(pthread_mutex_unlock(&inner), 0);
	}
	RET(pthread_spin_lock(&spin), 0);
	spun++;
	RET(pthread_spin_unlock(&spin), 0);
	RET(pthread_cond_signal(&never), 0);
	errno = saved;
}

static void *storm(void *arg)
{
	while (!stop) {
		for (int i = 0; i < WAITERS; i++)
			EQ(pthread_kill(threads[i], SIGUSR1), 0);
		nap_us(300);
	}
	return arg;
}

static void timed_calls(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3);
	int ret;

	/* m is held here; only rw can time out. */
	ret = pthread_rwlock_timedwrlock(&rw, &t);
	if (ret) {
		EQ(ret, ETIMEDOUT);
		EXPECT(reached(CLOCK_REALTIME, t));
		return;
	}
	counter[1]++;
	RET(pthread_rwlock_unlock(&rw), 0);
}

static void *body(void *arg)
{
	int me = (intptr_t)arg;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	ready++;
	EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
	RET(pthread_mutex_lock(&m), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct timespec t = in_ms(CLOCK_MONOTONIC, 2);

		while (turn % WAITERS != me)
			RET(pthread_cond_wait(&cond, &m), 0);
		turn++;
		RET(pthread_cond_broadcast(&cond), 0);
		if (i % 10 == 0) {
			int ret = pthread_cond_clockwait(&cond, &m,
							 CLOCK_MONOTONIC, &t);

			EXPECT(ret == 0 || ret == ETIMEDOUT);
			if (ret)
				EXPECT(reached(CLOCK_MONOTONIC, t));
			timed_calls();
		}
		RET(pthread_mutex_unlock(&m), 0);
		RET(pthread_rwlock_rdlock(&rw), 0);
		sched_yield();
		RET(pthread_rwlock_unlock(&rw), 0);
		for (int k = 0; k < 100; k++) {
			RET(pthread_mutex_lock(&m), 0);
			counter[0]++;
			RET(pthread_mutex_unlock(&m), 0);
		}
		RET(pthread_rwlock_wrlock(&rw), 0);
		counter[1]++;
		RET(pthread_rwlock_unlock(&rw), 0);
		RET(pthread_mutex_lock(&m), 0);
	}
	RET(pthread_mutex_unlock(&m), 0);
	done++;
	while (!over) /* the storm names this thread until it ends */
		nap_us(1000);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t stormer;
	sigset_t all, old;

	EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	sigfillset(&action.sa_mask);
	EQ(sigaction(SIGUSR1, &action, NULL), 0);
	EQ(sigaction(SIGALRM, &action, NULL), 0);
	sigfillset(&all);
	EQ(pthread_sigmask(SIG_BLOCK, &all, &old), 0);
	start(threads, WAITERS, body);
	while (ready < WAITERS)
		sched_yield();
	/* The sender has every signal blocked, and wakes with them blocked. */
	EQ(pthread_create(&stormer, NULL, storm, NULL), 0);
	for (int i = 0; done < WAITERS; i++) {
		EQ(kill(getpid(), SIGALRM), 0);
		RET(pthread_mutex_lock(&m), 0);
		RET(i % 2 ? pthread_cond_signal(&cond)
			  : pthread_cond_broadcast(&cond),
		    0);
		RET(pthread_mutex_unlock(&m), 0);
		nap_us(500);
	}
	stop = 1;
	EQ(pthread_join(stormer, NULL), 0);
	over = 1;
	finish(threads, WAITERS);
	EQ(turn, WAITERS * ROUNDS);
	EQ(counter[0], WAITERS * ROUNDS * 100);
	EXPECT(counter[1] >= WAITERS * ROUNDS);
	EQ(inner_count, handled);
	EQ(spun, handled);
	EXPECT(handled > 0 && tried <= handled);
	return 0;
}
