/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Readers see whole writes, writers are alone, and every kind of hand-over
 * leaves the lock usable; its memory may go as soon as it is let go.
 */
#include "preempt.h"

enum { THREADS = 24, OPS = 6000, WORDS = 8, OBJECTS = 1500, SHARERS = 4 };

static pthread_rwlock_t l;
static long words[WORDS];
static atomic_long readers, writers, writes;

static int take(unsigned int how, int write)
{
	struct timespec t;

	switch (how % 4) {
	case 0:
		return write ? pthread_rwlock_trywrlock(&l)
			     : pthread_rwlock_tryrdlock(&l);
	case 1:
		t = in_ms(CLOCK_REALTIME, 3600 * 1000L);
		return write ? pthread_rwlock_timedwrlock(&l, &t)
			     : pthread_rwlock_timedrdlock(&l, &t);
	default:
		return write ? pthread_rwlock_wrlock(&l)
			     : pthread_rwlock_rdlock(&l);
	}
}

static void *body(void *arg)
{
	unsigned int seed = (intptr_t)arg + 1;

	for (int i = 0; i < OPS; i++) {
		int write, ret;

		seed = seed * 1103515245 + 12345;
		write = (seed >> 16) % 5 == 0;
		errno = KEPT;
		ret = take(seed >> 24, write);
		EQ(errno, KEPT);
		if (ret) {
			EQ(ret, EBUSY);
			sched_yield();
			continue;
		}
		if (write) {
			EQ(writers++, 0);
			EQ(readers, 0);
			for (int w = 0; w < WORDS; w++)
				words[w]++;
			if (i % 64 == 0)
				sched_yield();
			writes++;
			writers--;
		} else {
			readers++;
			EQ(writers, 0);
			if (i % 64 == 0)
				sched_yield();
			for (int w = 1; w < WORDS; w++)
				EQ(words[w], words[0]);
			readers--;
		}
		RET(pthread_rwlock_unlock(&l), 0);
	}
	return NULL;
}

struct object {
	pthread_rwlock_t l;
	atomic_int refs;
	int dead;
};

static struct object *_Atomic objects[OBJECTS];

/*
 * Readers drop references they hold under the lock; the writer that comes
 * last, after all readers are in or gone, unmaps the object.
 */
static void *sharer(void *arg)
{
	for (int i = 0; i < OBJECTS; i++) {
		struct object *o;

		if (arg == NULL) {
			o = map_pages(4096, MAP_PRIVATE);
			RET(pthread_rwlock_init(&o->l, NULL), 0);
			o->refs = SHARERS - 1;
			objects[i] = o;
		}
		while (!(o = objects[i]))
			sched_yield();
		if ((intptr_t)arg != i % SHARERS) {
			RET(pthread_rwlock_rdlock(&o->l), 0);
			EQ(o->dead, 0);
			o->refs--;
			RET(pthread_rwlock_unlock(&o->l),
			    0); /* o may be gone in here */
			continue;
		}
		while (o->refs)
			sched_yield();
		RET(pthread_rwlock_wrlock(&o->l), 0);
		o->dead = 1;
		RET(pthread_rwlock_unlock(&o->l), 0);
		if (i & 1)
			RET(pthread_rwlock_destroy(&o->l), 0);
		take_away(o);
	}
	return NULL;
}

int main(void)
{
	static const int kinds[] = {
		PTHREAD_RWLOCK_PREFER_READER_NP,
		PTHREAD_RWLOCK_PREFER_WRITER_NP,
		PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP
	};

	for (int k = 0; k < LEN(kinds); k++) {
		pthread_rwlockattr_t attr;

		STAGE(k);
		EQ(pthread_rwlockattr_init(&attr), 0);
		EQ(pthread_rwlockattr_setkind_np(&attr, kinds[k]), 0);
		RET(pthread_rwlock_init(&l, &attr), 0);
		memset(words, 0, sizeof(words));
		writes = 0;
		run(THREADS, body);
		EQ(words[0], writes);
		RET(pthread_rwlock_trywrlock(&l), 0);
		RET(pthread_rwlock_unlock(&l), 0);
		RET(pthread_rwlock_destroy(&l), 0);
	}
	STAGE(9);
	run_preempted(SHARERS, sharer);
	return 0;
}
