/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Spinlocks: far more threads than CPUs, and holders that lose theirs. */
#include "preempt.h"

enum { THREADS = 64, ROUNDS = 1000, OBJECTS = 1500, SHARERS = 4 };

static pthread_spinlock_t *l;
static long counter[2];

static void *try_other(void *arg)
{
	errno = KEPT;
	*(int *)arg = pthread_spin_trylock(l);
	EQ(errno, KEPT);
	return NULL;
}

static void *unlock_other(void *arg)
{
	RET(pthread_spin_unlock(l), 0);
	return arg;
}

static int other(void *(*body)(void *))
{
	pthread_t thread;
	int ret = 0;

	EQ(pthread_create(&thread, NULL, body, &ret), 0);
	EQ(pthread_join(thread, NULL), 0);
	return ret;
}

static void *body(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		if ((i + (intptr_t)arg) % 16 == 0) {
			errno = KEPT;
			while (pthread_spin_trylock(l))
				sched_yield();
			EQ(errno, KEPT);
		} else {
			RET(pthread_spin_lock(l), 0);
		}
		counter[0]++;
		if (i == ROUNDS / 2 && (intptr_t)arg % 4 == 0)
			nap_us(20); /* a holder without a CPU */
		counter[1]++;
		EQ(counter[0], counter[1]);
		RET(pthread_spin_unlock(l), 0);
	}
	return NULL;
}

struct object {
	pthread_spinlock_t l;
	int refs;
};

static struct object *_Atomic objects[OBJECTS];

/* The last one out unmaps the object: unlock may not touch it again. */
static void *sharer(void *arg)
{
	for (int i = 0; i < OBJECTS; i++) {
		struct object *o;
		int left;

		if (arg == NULL) {
			o = map_pages(4096, MAP_PRIVATE);
			RET(pthread_spin_init(&o->l, PTHREAD_PROCESS_PRIVATE),
			    0);
			o->refs = SHARERS;
			objects[i] = o;
		}
		while (!(o = objects[i]))
			sched_yield();
		RET(pthread_spin_lock(&o->l), 0);
		left = --o->refs;
		RET(pthread_spin_unlock(&o->l), 0);
		if (left == 0)
			take_away(o);
	}
	return NULL;
}

static void test(int shared, int pages)
{
	/* Four bytes, with neighbours that must stay as they are. */
	pthread_spinlock_t *row = map_pages(4096, pages);

	row[0] = row[2] = 0x13579bdf;
	row[1] = 77;
	l = &row[1];
	RET(pthread_spin_init(l, shared), 0);
	RET(pthread_spin_lock(l), 0);
	RET(pthread_spin_trylock(l), EBUSY);
	EQ(other(try_other), EBUSY);
	RET(pthread_spin_unlock(l), 0);
	RET(pthread_spin_trylock(l), 0);
	EQ(other(unlock_other), 0); /* no owner */
	EQ(other(try_other), 0);
	RET(pthread_spin_unlock(l), 0);
	counter[0] = counter[1] = 0;
	run(THREADS, body);
	EQ(counter[0], THREADS * ROUNDS);
	EQ(row[0], 0x13579bdf);
	EQ(row[2], 0x13579bdf);
	RET(pthread_spin_destroy(l), 0);
	RET(pthread_spin_init(l, shared), 0);
	RET(pthread_spin_trylock(l), 0);
	EQ(munmap((void *)row, 4096), 0);
}

int main(void)
{
	STAGE(0);
	test(PTHREAD_PROCESS_PRIVATE, MAP_PRIVATE);
	STAGE(1);
	test(PTHREAD_PROCESS_SHARED, MAP_SHARED);
	STAGE(2);
	run_preempted(SHARERS, sharer);
	return 0;
}
