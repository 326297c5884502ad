/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Built with a sanitizer and run under the interposer: no report, no lost wake-up. With
 * an argument two threads race, for ThreadSanitizer to find.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 500 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, shared;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long turn, written, spun, handed, raced;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* The waits have no limit: a lost wake-up is a hang. */
static void take_turn(long me)
{
	pthread_mutex_lock(&mutex);
	while (turn % 2 != me)
		pthread_cond_wait(&cond, &mutex);
	turn++;
	if (turn % 3)
		pthread_cond_signal(&cond);
	else
		pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
}

static void *body(void *arg)
{
	long me = (long)arg, seen = 0;

	for (int i = 0; i < ROUNDS; i++) {
		take_turn(me);
		pthread_rwlock_wrlock(&rw);
		written++;
		pthread_rwlock_unlock(&rw);
		pthread_rwlock_rdlock(&rw);
		seen += written;
		pthread_rwlock_unlock(&rw);
		pthread_spin_lock(&spin);
		spun++;
		pthread_spin_unlock(&spin);
		pthread_mutex_lock(&shared);
		handed++;
		pthread_mutex_unlock(&shared);
	}
	check(seen > 0, "nothing was written");
	return NULL;
}

static void *race(void *unused)
{
	raced++;
	return unused;
}

static void run(void *(*what)(void *))
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		check(!pthread_create(&threads[i], NULL, what, (void *)i),
		      "no thread");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;

	(void)argv;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared, &attr);
	run(argc > 1 ? race : body);
	check(argc > 1 || (turn == 2 * ROUNDS && written == turn &&
			   spun == turn && handed == turn),
	      "a lock did not exclude");
	return 0;
}
