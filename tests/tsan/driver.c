// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Every lock of the catalogue guards a plain counter, for ThreadSanitizer: it
 * reports a race unless the lock's own acquire and release order the visits.
 *
 * Limits: it sees what ran here, treats a compiler barrier as nothing and
 * knows no fences, so an order that a lock takes from a fence alone would be
 * reported though it is right. Address dependencies count as relaxed.
 */
#include <catalogue.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define TURNS	2000

struct job {
	const struct lk_ops *ops;
	void *lock;
	u64 counter; /* plain on purpose */
};

/* Takes the lock in the @way-th of its ways; false: not held. */
static bool take(const struct job *job, unsigned int way)
{
	const struct lk_ops *ops = job->ops;

	if (way % 4 == 1 && ops->trylock)
		return ops->trylock(job->lock);
	if (way % 4 == 2 && ops->timedlock)
		return ops->timedlock(job->lock, 20000);
	if (way % 4 == 3 && ops->attempt)
		return ops->attempt(job->lock);
	ops->lock(job->lock);
	return true;
}

static u64 look(struct job *job)
{
	u64 seen;

	if (!job->ops->read_lock)
		return 0;
	job->ops->read_lock(job->lock);
	seen = job->counter;
	job->ops->read_unlock(job->lock);
	return seen;
}

static void *work(void *arg)
{
	struct job *job = arg;
	u64 got = 0, last = 0, seen;

	for (unsigned int turn = 0; turn < TURNS; turn++) {
		seen = look(job);
		if (seen < last)
			abort(); /* the counter went back */
		last = seen;
		if (!take(job, turn))
			continue;
		job->counter++;
		got++;
		if (turn % 64 == 0)
			sched_yield();
		job->ops->unlock(job->lock);
	}
	return (void *)(uintptr_t)got;
}

static bool run(const struct lk_ops *ops)
{
	struct job job = { .ops = ops };
	pthread_t threads[THREADS];
	u64 expected = 0;
	void *got;

	job.lock = aligned_alloc(128, (ops->size + 127) / 128 * 128);
	if (!job.lock)
		return false;
	ops->init(job.lock);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, work, &job))
			return false;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &got);
		expected += (uintptr_t)got;
	}
	free(job.lock);
	printf("%-20s %llu of %llu updates\n", ops->name,
	       (unsigned long long)job.counter, (unsigned long long)expected);
	return job.counter == expected;
}

int main(int argc, char **argv)
{
	const struct lk_ops *const *ops;
	bool good = true;
#ifdef CANARY
	extern const struct lk_ops *const lk_canaries[];

	ops = lk_canaries;
#else
	ops = lk_catalogue;
#endif
	for (; *ops; ops++) {
		if (argc > 1 && __builtin_strcmp((*ops)->name, argv[1]))
			continue;
		good &= run(*ops);
	}
	return good ? 0 : 1;
}
