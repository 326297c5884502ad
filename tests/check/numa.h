/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef CHECK_NUMA_H
#define CHECK_NUMA_H

/* What the clients of a queue that divides itself have in common. */
#include "frame.h"
#include "knobs.h"
#include "numa_pool.h"
#include "osq_lock.h"

/*
 * As lk_numa_osq_divided(), but for what the clients use: two entries. One that the
 * child has not needed is still the parent's.
 */
#define ENTRIES 2u

static inline u32 divided(void)
{
	u32 i, n = 0;

	for (i = 0; i < ENTRIES; i++)
		n += READ_ONCE(lk_numa_pool[i].taken) ==
		     (1u << 16 | check_world.epoch);
	return n;
}

/* Divide at each acquisition, and join again as soon as a cluster is done. */
static inline void divide_at_once(void)
{
	lk_knob_osq_lock_depth = (u32)-1;
	lk_knob_osq_keep_times = 0;
	lk_knob_osq_pool = ENTRIES;
}

/* Not a second time, nor join for want of merit. */
static inline void divide_no_more(void)
{
	lk_knob_osq_lock_depth = 32;
	lk_knob_osq_keep_times = 16;
}

/* Thread 0 holds, and all that come find the lock divided. */
static inline void hold_divided(struct lk_numa_osq *osq, u32 clusters)
{
	check_world.clusters = clusters;
	divide_at_once();
	CHECK(lk_numa_osq_lock(osq), "a free lock was not taken");
	CHECK(divided() == 1, "not divided");
	divide_no_more();
}

/*
 * The same for two clusters, and since then there are three: all but thread 0
 * are in the second one.
 */
static inline void hold_against_one(struct lk_numa_osq *osq)
{
	hold_divided(osq, 2);
	check_world.clusters = 3;
}

/* All spin for @rounds in a queue that divides at once. */
static inline void spin_divided(u32 rounds)
{
	u32 i;

	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = rounds;
	check_world.clusters = 2;
	divide_at_once();
}

/* The threads run in a forked child. At the fork the spinners' queue was divided. */
static inline void fork_divided(struct lk_osq *osq)
{
	CHECK(lk_numa_osq_lock((struct lk_numa_osq *)osq),
	      "a free lock was not taken");
	CHECK(divided() == 1, "not divided");
	queue_exit(); /* not in the child */
	check_world.epoch = 1;
	lk_knob_osq_pool = 1;
}

/* At the end nobody is in the spinners' queue, and it is one again. */
static inline void check_nobody_spins(const struct lk_osq *osq)
{
	CHECK((u16)atomic_read(&osq->tail) == 0,
	      "somebody is queued at the end");
	CHECK(divided() == 0, "divided, and nobody is there");
}

/* Thread 0 waits for ever; the others give up at their first or second look. */
static inline void make_impatient(void)
{
	u32 i;

	for (i = 1; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = (i + 1) % 2;
}

/* All give up at once: each has a neighbour that leaves too. */
static inline void make_hasty(void)
{
	u32 i;

	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = 0;
}

#endif
