// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "knobs.h"
#include "numa_pool.h"

static struct lk_numa_osq osq, other;
static atomic_t left;

/* As lk_numa_osq_divided(), but for what the clients use: two entries. */
#define ENTRIES 2u

static u32 divided(void)
{
	u32 i, n = 0;

	for (i = 0; i < ENTRIES; i++)
		n += READ_ONCE(numa_pool[i].taken) != 0;
	return n;
}

/* Divide at each acquisition, and join again as soon as a cluster is done. */
static void divide_at_once(void)
{
	lk_knob_osq_lock_depth = (u32)-1;
	lk_knob_osq_keep_times = 0;
	lk_knob_osq_pool = ENTRIES;
}

/* Thread 0 holds, and all that come find the lock divided. */
static void hold_divided(u32 clusters)
{
	check_world.clusters = clusters;
	divide_at_once();
	CHECK(lk_numa_osq_lock(&osq), "a free lock was not taken");
	CHECK(divided() == 1, "not divided");
	/* Not a second time, nor for want of merit. */
	lk_knob_osq_lock_depth = 32;
	lk_knob_osq_keep_times = 16;
}

static void lock_if_possible(struct lk_numa_osq *lock)
{
	begin_waiting();
	if (!lk_numa_osq_lock(lock))
		return;
	critical_section();
	lk_numa_osq_unlock(lock);
}

static void lock_some(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lock_if_possible(&osq));
}

/* Thread 0 held already. */
static void unlock_first(u32 id)
{
	if (id == 0) {
		critical_section();
		lk_numa_osq_unlock(&osq);
		return;
	}
	lock_some(id);
}

static void finish(void)
{
	check_sections();
	CHECK(osq.tail == 0, "the queue is not empty at the end");
	CHECK(divided() == 0, "divided, and nobody is there");
}

/* -- the one queue ------------------------------------------------------- */

static void init_impatient(void)
{
	u32 i;

	for (i = 1; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = (i + 1) % 2;
}

static void init_hasty(void)
{
	u32 i;

	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = 0;
}

static void init_no_slots(void)
{
	check_world.no_slots = true;
}

/* -- divided ------------------------------------------------------------- */

static void init_switching(void)
{
	check_world.clusters = 2;
	divide_at_once();
}

static void init_switching_impatient(void)
{
	init_switching();
	init_impatient();
}

static void init_divided(void)
{
	hold_divided(2);
}

static void init_divided_impatient(void)
{
	hold_divided(2);
	init_impatient();
}

static void init_divided_hasty(void)
{
	hold_divided(2);
	init_hasty();
}

const struct check_client check_numa_osq[] = {
	{ "numa_osq", "exclusion", "one holder at a time", 3, 2, 2, 300, 16,
	  NULL, lock_some, finish },
	{ "numa_osq", "cancel", "waiters leave the queue", 3, 2, 2, 300, 16,
	  init_impatient, lock_some, finish },
	{ "numa_osq", "no_slots", "threads without a node", 3, 2, 2, 300, 16,
	  init_no_slots, lock_some, finish },
	{ "numa_osq", "divided", "clusters' queues, and the way back", 3, 1, 2,
	  300, 16, init_divided, unlock_first, finish },
	{ "numa_osq", "divided_cancel", "waiters leave clusters' queues", 3, 1,
	  2, 300, 16, init_divided_impatient, unlock_first, finish },
	{ "numa_osq", "divided_hasty", "all leave at once", 3, 1, 2, 300, 16,
	  init_divided_hasty, unlock_first, finish },
	{ "numa_osq", "switching", "back and forth each time", 3, 1, 2, 300,
	  16, init_switching, lock_some, finish },
	{ "numa_osq", "switching_cancel", "the same, and waiters leave", 3, 1,
	  2, 300, 16, init_switching_impatient, lock_some, finish },
	{ 0 },
};

const struct check_mutant mutants_numa_osq[] = {
	{ 0 },
};
