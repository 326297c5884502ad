// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The pool: owners of entries; knobs, clusters and forks. */
#include <errno.h>
#include <sys/mman.h>

#include "numa.h"

static struct lk_numa_osq osq, other;
/* Plain data: two threads that hold one lock at once are a race. */
static u32 held[2];

static void lock_with_data(struct lk_numa_osq *lock, u32 *data)
{
	begin_waiting();
	if (!lk_numa_osq_lock(lock))
		return;
	(*data)++;
	lwc_others_may_run();
	lk_numa_osq_unlock(lock);
}

static void lock_some(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lock_with_data(&osq, &held[0]));
}

/* Thread 0 held already. */
static void unlock_first(u32 id)
{
	if (id == 0)
		lk_numa_osq_unlock(&osq);
	else
		lock_some(id);
}

static void finish(void)
{
	CHECK(osq.tail == 0, "the queue is not empty at the end");
	CHECK(other.tail == 0, "the other queue is not empty at the end");
	CHECK(divided() == 0, "divided, and nobody is there");
}

/* -- never divided ------------------------------------------------------- */

static void init_no_pool(void)
{
	check_world.clusters = 2;
	divide_at_once();
	lk_knob_osq_pool = 0;
}

static void init_clusters(u32 clusters)
{
	divide_at_once();
	check_world.clusters = clusters;
}

static void init_single(void)
{
	init_clusters(1);
}

/* A platform that has not counted yet. */
static void init_none(void)
{
	init_clusters(0);
}

/* Two behind the holder at the most: not more than what is long. */
static void init_short(void)
{
	init_clusters(2);
	lk_knob_osq_lock_depth = 2;
}

/* A queue that is long, for one hand-over; it was divided in vain before. */
static void init_careful(void)
{
	check_world.clusters = 2;
	lk_knob_osq_lock_depth = (u32)-1;
	lk_knob_osq_keep_times = 1;
	osq.state = 1 << 1;
	CHECK(lk_numa_osq_lock(&osq), "a free lock was not taken");
}

static void careful(u32 id)
{
	if (id != 0) {
		if (!lk_numa_osq_lock(&osq))
			return;
		CHECK(divided() == 0, "divided as soon as the first time");
	}
	lk_numa_osq_unlock(&osq);
}

/* Each time nobody comes, so that it was in vain: ever more careful, to a limit. */
static void in_vain(u32 id)
{
	u32 times;

	(void)id;
	for (times = 1; times < 9; times++) {
		lwc_begin_anew();
		if (!lk_numa_osq_lock(&osq))
			return;
		CHECK(divided() == 1, "not divided");
		lk_numa_osq_unlock(&osq);
		CHECK(osq.state >> 1 == (times < 6 ? times : 6),
		      "divided in vain, and not more careful");
	}
}

static void init_in_vain(void)
{
	init_clusters(2);
}

static void never_divided(u32 id)
{
	(void)id;
	EACH_ACQUISITION(begin_waiting(); if (!lk_numa_osq_lock(&osq)) continue;
			 held[0]++;
			 CHECK(divided() == 0, "divided without need");
			 lk_numa_osq_unlock(&osq));
}

/* -- what changes meanwhile ---------------------------------------------- */

static void init_divided(void)
{
	hold_divided(&osq, 2);
}

static void init_divided_impatient(void)
{
	init_divided();
	make_impatient();
}

/* Thread 0 switches it off and hands over; one holder more may find it on. */
static u32 still_divided;

static void switch_off(u32 id)
{
	if (id == 0) {
		lk_knob_dynamic_enable = 0;
		lk_numa_osq_unlock(&osq);
		return;
	}
	begin_waiting();
	if (!lk_numa_osq_lock(&osq))
		return;
	still_divided += READ_ONCE(osq.state) & 1;
	CHECK(still_divided <= 1, "divided, though switched off");
	lk_numa_osq_unlock(&osq);
}

static void init_against_one(void)
{
	hold_against_one(&osq);
}

/* More than an entry has queues for. */
static void init_many(void)
{
	hold_divided(&osq, 40);
}

/* More, then none: CPUs come and go. */
static void init_changing(void)
{
	init_divided();
	divide_at_once();
}

static void clusters_change(u32 id)
{
	static const u32 counts[] = { 3, 0, 2 };
	u32 at = 0;

	if (id != 1) {
		unlock_first(id);
		return;
	}
	EACH_ACQUISITION(check_world.clusters = counts[at++ % 3];
			 lock_with_data(&osq, &held[0]));
}

/* -- two locks, one entry ------------------------------------------------ */

/* Both may divide; the first of them has the entry. */
static void init_shared(void)
{
	hold_divided(&osq, 2);
	divide_at_once();
	lk_knob_osq_pool = 1;
}

static void shared(u32 id)
{
	if (id == 2)
		EACH_ACQUISITION(lock_with_data(&other, &held[1]));
	else
		unlock_first(id);
}

/* The same for two whose addresses differ in their upper halves only. */
#define LOW  ((char *)0x40000000)
#define HIGH (LOW + (1ull << 32))

/* Mapped at the first execution; the address is taken at the next ones. */
static struct lk_numa_osq *map(char *at)
{
	void *is =
		mmap(at, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(is == at || errno == EEXIST, "an address cannot be mapped");
	return (struct lk_numa_osq *)at;
}

static void init_alias(void)
{
	map(HIGH);
	hold_divided(map(LOW), 2);
	divide_at_once();
	lk_knob_osq_pool = 1;
}

static void alias(u32 id)
{
	if (id == 0)
		lk_numa_osq_unlock((struct lk_numa_osq *)LOW);
	else
		lock_with_data((struct lk_numa_osq *)(id == 2 ? HIGH : LOW),
			       &held[id == 2]);
}

static void finish_alias(void)
{
	osq = *(struct lk_numa_osq *)LOW;
	other = *(struct lk_numa_osq *)HIGH;
	finish();
}

/* -- forks --------------------------------------------------------------- */

/*
 * The parent's queue was divided, and about to be joined; the child has forgotten
 * that, and may take the entry as it was left.
 */
static void init_forked(void)
{
	init_divided();
	queue_exit(); /* not in the child */
	lk_numa_pool[0].joining = 1;
	osq = (struct lk_numa_osq)LK_NUMA_OSQ_INIT;
	check_world.epoch = 1;
	divide_at_once();
	lk_knob_osq_pool = 1;
}

const struct check_client check_numa_pool[] = {
	{ "numa_osq", "no_pool", "the pool has no entry", 3, 1, 2, 300, 16,
	  init_no_pool, never_divided, finish },
	{ "numa_osq", "single", "there is one cluster", 3, 1, 2, 300, 16,
	  init_single, never_divided, finish },
	{ "numa_osq", "none", "there are no clusters", 3, 1, 2, 300, 16,
	  init_none, never_divided, finish },
	{ "numa_osq", "short", "a queue that is never long", 3, 1, 2, 300, 0,
	  init_short, never_divided, finish },
	{ "numa_osq", "careful", "caution after a poor division", 2, 1, 3, 300,
	  0, init_careful, careful, finish },
	{ "numa_osq", "in_vain", "caution after many poor divisions", 1, 1, 0,
	  300, 0, init_in_vain, in_vain, finish },
	{ "numa_osq", "switch_off", "dynamic_enable is cleared while divided",
	  3, 1, 2, 300, 16, init_divided, switch_off, finish },
	{ "numa_osq", "switch_off_cancel", "the same, and waiters leave", 3, 1,
	  2, 300, 16, init_divided_impatient, switch_off, finish },
	{ "numa_osq", "switch_off_inside", "the same, with one cluster", 3, 1,
	  2, 300, 16, init_against_one, switch_off, finish },
	{ "numa_osq", "many", "more clusters than queues", 3, 1, 2, 300, 16,
	  init_many, unlock_first, finish },
	{ "numa_osq", "clusters_change", "the number of clusters changes", 2, 2,
	  2, 300, 16, init_changing, clusters_change, finish },
	{ "numa_osq", "shared", "two locks compete for one entry", 3, 1, 2, 300,
	  0, init_shared, shared, finish },
	{ "numa_osq", "alias",
	  "the same, with addresses equal in the lower half", 3, 1, 2, 300, 0,
	  init_alias, alias, finish_alias },
	{ "numa_osq", "fork", "an entry is in use at a fork", 2, 1, 3, 300, 16,
	  init_forked, lock_some, finish },
	{ 0 },
};

const struct check_mutant mutants_numa_pool[] = {
	{ "an entry is claimed twice", "numa_pool.A", NULL, NULL, "force" },
	{ "an entry is not returned", "numa_pool.B", NULL, NULL, "drop" },
	{ "an entry is joining from the start", "forget", "WRITE_ONCE",
	  "entry->joining", "drop" },
	{ "an entry is open from the start", "forget", "WRITE_ONCE",
	  "entry->cluster[i].word", "drop" },
	{ 0 },
};
