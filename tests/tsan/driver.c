// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Every lock of the catalogue guards a plain counter, for ThreadSanitizer: it
 * reports a race unless the lock's own acquire and release order the visits.
 *
 * Meanwhile knobs and clusters are changed all the time, so that locks that divide
 * themselves do: below their minimum the knobs have them do so at once.
 *
 * Limits: it sees what ran here, treats a compiler barrier as nothing and
 * knows no fences, so an order that a lock takes from a fence alone would be
 * reported though it is right. Address dependencies count as relaxed.
 */
#include <catalogue.h>
#include <events.h>
#include <knobs.h>
#include <numa_osq.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <user.h>

#ifndef THREADS
#define THREADS 4
#endif
#ifndef TURNS
#define TURNS 2000
#endif

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

/* Turns the knobs until @arg, a u32, is set. */
static void *drive(void *arg)
{
	static const char *const maps[] = { "0;1", "1;0,2", "0,1" };

	for (unsigned int turn = 0; !READ_ONCE(*(u32 *)arg); turn++) {
		WRITE_ONCE(lk_knob_osq_lock_depth, turn % 4 ? (u32)-1 : 5);
		WRITE_ONCE(lk_knob_osq_keep_times, turn % 3 * 4);
		WRITE_ONCE(lk_knob_osq_node_max, turn % 5);
		WRITE_ONCE(lk_knob_osq_pool, turn % 7 ? 64 : 0);
		WRITE_ONCE(lk_knob_dynamic_enable, turn % 8 != 0);
		if (turn % 16 == 0)
			lkp_user_set_clusters(maps[turn / 16 % 3]);
		sched_yield();
	}
	return NULL;
}

#define DIVISIONS 1000

static u64 divisions(void)
{
	return lkp_user_event_sum(LK_EV_numa_opened);
}

/* Prints what was counted. False: too few divisions, or one that lasts. */
static bool divided_enough(void)
{
	for (u32 i = 0; lkp_user_event_name(i); i++)
		printf("%-20s %llu\n", lkp_user_event_name(i),
		       (unsigned long long)lkp_user_event_sum(i));
	return divisions() >= DIVISIONS && lk_numa_osq_divided() == 0;
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

/* Again and again if it divides itself, until that was done often enough. */
static bool run_often(const struct lk_ops *ops)
{
	u64 before = divisions();
	bool good = run(ops);

	for (int i = 0; i < 50 && good; i++) {
		if (divisions() == before || divisions() >= DIVISIONS)
			break;
		good = run(ops);
	}
	return good;
}

int main(int argc, char **argv)
{
	const struct lk_ops *const *ops;
	bool good = true, all = argc < 2;
	pthread_t driver;
	u32 stop = 0;
#ifdef CANARY
	extern const struct lk_ops *const lk_canaries[];

	ops = lk_canaries;
#else
	ops = lk_catalogue;
#endif
	lkp_user_knob_set("count_events", "1");
	/* A thread that finds the mutex taken queues, instead of sleeping. */
	lkp_user_knob_set("brief_spins", "0");
	lkp_user_knob_set("rwsem_looks", "0");
	lkp_user_knob_set("watch_owner", "0");
	if (pthread_create(&driver, NULL, drive, &stop))
		return 1;
	for (; *ops; ops++) {
		if (!all && __builtin_strcmp((*ops)->name, argv[1]))
			continue;
		good &= run_often(*ops);
	}
	WRITE_ONCE(stop, 1);
	pthread_join(driver, NULL);
	if (all)
		good &= divided_enough();
	return good ? 0 : 1;
}
