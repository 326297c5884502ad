/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A handler that tries the very lock the interrupted code is busy with.  It
 * gets it only when it is free, and may leave it to the code it interrupted.
 */
#include "expect.h"
#include <sys/time.h>

enum { ROUNDS = 150000 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static volatile sig_atomic_t inside, rw_inside, spin_inside;
static atomic_long won, lost;
static long counter;
static atomic_int stop;

static void handler(int sig)
{
	int saved = errno, ret;

	(void)sig;
	errno = KEPT;
	ret = pthread_mutex_trylock(&m);
	EQ(errno, KEPT);
	if (ret == 0) {
		EQ(inside, 0);
		counter++;
		won++;
		RET(pthread_mutex_unlock(&m), 0);
	} else {
		EQ(ret, EBUSY);
		lost++;
	}
	ret = pthread_rwlock_trywrlock(&rw);
	if (ret == 0) {
		EQ(rw_inside, 0);
		RET(pthread_rwlock_unlock(&rw), 0);
	} else {
		EXPECT(ret == EBUSY);
	}
	ret = pthread_spin_trylock(&spin);
	if (ret == 0) {
		EQ(spin_inside, 0);
		RET(pthread_spin_unlock(&spin), 0);
	} else {
		EQ(ret, EBUSY);
	}
	errno = saved;
}

static void rounds(long n)
{
	for (long i = 0; i < n; i++) {
		RET(pthread_mutex_lock(&m), 0);
		inside++;
		counter++;
		inside--;
		RET(pthread_mutex_unlock(&m), 0);
		RET(pthread_rwlock_wrlock(&rw), 0);
		rw_inside++;
		rw_inside--;
		RET(pthread_rwlock_unlock(&rw), 0);
		RET(pthread_rwlock_rdlock(&rw), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
		RET(pthread_spin_lock(&spin), 0);
		spin_inside++;
		spin_inside--;
		RET(pthread_spin_unlock(&spin), 0);
	}
}

static void *body(void *arg)
{
	rounds(ROUNDS / 4);
	return arg;
}

static void *storm(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	while (!stop) {
		EQ(kill(getpid(), SIGALRM), 0);
		nap_us(50);
	}
	return arg;
}

int main(void)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } },
			 never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = handler };
	pthread_t stormer;

	RET(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	EQ(sigaction(SIGALRM, &action, NULL), 0);

	/* A program with one thread interrupts itself. */
	EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
	rounds(ROUNDS);
	EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
	EQ(counter, ROUNDS + won);
	EQ(setitimer(ITIMER_REAL, &often, NULL), 0);

	/* Four that fight, with signals from the timer and from a fifth. */
	EQ(pthread_create(&stormer, NULL, storm, NULL), 0);
	counter = 0;
	won = 0;
	run(4, body);
	stop = 1;
	EQ(pthread_join(stormer, NULL), 0);
	EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
	EQ(counter, ROUNDS / 4 * 4 + won);
	EXPECT(won + lost > 0);
	return 0;
}
