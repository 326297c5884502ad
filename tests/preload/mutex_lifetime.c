/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where a mutex lives, and when it ends: the last one out may unmap it while
 * the others have only just unlocked, so nothing may look at it after letting
 * go.  Memory comes and goes with no word to the lock library.
 */
#include "preempt.h"

static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
			     PTHREAD_MUTEX_ERRORCHECK,
			     PTHREAD_MUTEX_ADAPTIVE_NP };
enum { WORKERS = 4, ROUNDS = 6000 };

struct object {
	pthread_mutex_t m;
	int refs;
};

static struct object *_Atomic current[ROUNDS];
static pthread_barrier_t barrier;

/* Everyone drops one reference to every object; the last one unmaps it. */
static void *dropper(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct object *o;
		int left;

		STAGE(i);
		if (arg == NULL) {
			o = map_pages(4096, MAP_PRIVATE);
			mutex_of_type(&o->m, types[i % 4]);
			o->refs = WORKERS;
			current[i] = o;
		}
		while (!(o = current[i]))
			sched_yield();
		/* The pages may go at once after the unlock. */
		RET(pthread_mutex_lock(&o->m), 0);
		left = --o->refs;
		if (i % 2 && left == WORKERS - 1)
			nap_us(1); /* let the others queue up */
		RET(pthread_mutex_unlock(&o->m), 0);
		if (left == 0) {
			if (i & 1)
				RET(pthread_mutex_destroy(&o->m), 0);
			take_away(o);
		}
	}
	return NULL;
}

static pthread_mutex_t abandoned = PTHREAD_MUTEX_INITIALIZER;

/* The thread is gone, its mutex stays locked. */
static void owner_gone(void)
{
	EQ(other_mutex(pthread_mutex_lock, &abandoned), 0);
	for (int i = 0; i < 20; i++)
		EQ(other_mutex(pthread_mutex_trylock, &abandoned), EBUSY);
	RET(pthread_mutex_unlock(&abandoned), 0);
	EQ(other_mutex(pthread_mutex_lock, &abandoned), 0);
	RET(pthread_mutex_destroy(&abandoned), EBUSY);
	RET(pthread_mutex_init(&abandoned, NULL), 0);
	RET(pthread_mutex_lock(&abandoned), 0);
	RET(pthread_mutex_unlock(&abandoned), 0);
}

/* All threads have one and the same place in memory, whatever it was before. */
static union place {
	pthread_mutex_t m;
	pthread_rwlock_t rw;
	pthread_cond_t c;
	char bytes[64];
} * place;
static long count;

static void *reuser(void *arg)
{
	for (int i = 0; i < 40; i++) {
		int serial = pthread_barrier_wait(&barrier) ==
			     PTHREAD_BARRIER_SERIAL_THREAD;

		if (serial) {
			if (i % 4 == 0)
				memset(place, 0, sizeof(*place)); /* no init */
			else if (i % 4 == 1)
				mutex_of_type(
					&place->m,
					types[i / 4 % 4]); /* no destroy */
			else if (i % 4 == 2)
				RET(pthread_rwlock_init(&place->rw, NULL), 0);
			else
				place->m = (pthread_mutex_t)
					PTHREAD_MUTEX_INITIALIZER;
		}
		pthread_barrier_wait(&barrier);
		for (int k = 0; k < 200; k++) {
			if (i % 4 == 2)
				RET(pthread_rwlock_wrlock(&place->rw), 0);
			else
				RET(pthread_mutex_lock(&place->m), 0);
			count++;
			if (i % 4 == 2)
				RET(pthread_rwlock_unlock(&place->rw), 0);
			else
				RET(pthread_mutex_unlock(&place->m), 0);
		}
	}
	return arg;
}

/* A free mutex may be carried off by realloc or a struct copy. */
static void moved(void)
{
	pthread_mutex_t *array = NULL;

	for (int n = 1; n <= 2000; n *= 3) {
		array = realloc(array, n * sizeof(*array));
		EXPECT(array);
		for (int i = n / 3; i < n; i++)
			mutex_of_type(&array[i], types[i % 4]);
		for (int i = 0; i < n; i++) {
			RET(pthread_mutex_lock(&array[i]), 0);
			if (i < 50)
				EQ(other_mutex(pthread_mutex_trylock,
					       &array[i]),
				   EBUSY);
		}
		for (int i = 0; i < n; i++)
			RET(pthread_mutex_unlock(&array[i]), 0);
	}
	free(array);
}

int main(void)
{
	owner_gone();
	run_preempted(WORKERS, dropper);
	EQ(pthread_barrier_init(&barrier, NULL, WORKERS), 0);
	place = calloc(1, sizeof(*place));
	EXPECT(place);
	STAGE(0);
	run(WORKERS, reuser);
	EQ(count, WORKERS * 40 * 200);
	moved();
	return 0;
}
