// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "osq_lock.h"

static struct lk_osq osq, other;
static atomic_t left;

static void lock_if_possible(u32 id)
{
	(void)id;
	EACH_ACQUISITION(begin_waiting(); if (lk_osq_lock(&osq)) {
		critical_section();
		lk_osq_unlock(&osq);
	});
}

/* Thread 0 waits for ever; the others give up at their first or second look. */
static void init_impatient(void)
{
	u32 i;

	for (i = 1; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = (i + 1) % 2;
}

/* All give up at once: each has a neighbour that leaves too. */
static void init_hasty(void)
{
	u32 i;

	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = 0;
}

/* The thread before is never seen to run. */
static void init_one_cpu(void)
{
	check_world.one_cpu = true;
}

/* Thread 0 holds until all others have left: none needs its neighbour's help. */
static void init_leave(void)
{
	init_hasty();
	atomic_set(&left, 0);
	lk_osq_lock(&osq);
}

static void leave(u32 id)
{
	if (id == 0) {
		atomic_cond_read_relaxed(&left, (u32)VAL == check_threads - 1);
		lk_osq_unlock(&osq);
		return;
	}
	begin_waiting();
	CHECK(!lk_osq_lock(&osq), "granted by nobody");
	atomic_add(1, &left);
}

/* One node for two queues: what a neighbour does late comes to the wrong one. */
static void two_queues(u32 id)
{
	EACH_ACQUISITION(begin_waiting(); if (lk_osq_lock(&osq)) {
		critical_section();
		lk_osq_unlock(&osq);
	} begin_waiting();
			 if (lk_osq_lock(&other)) lk_osq_unlock(&other));
	(void)id;
}

/* Thread 0 holds, thread 1 gives up at once, and the others stay. */
static void init_between(void)
{
	check_world.spin_budget[1] = 0;
	lk_osq_lock(&osq);
}

static void leave_between(u32 id)
{
	if (id == 0)
		lk_osq_unlock(&osq);
	else
		lock_if_possible(id);
}

/* Thread 0 holds the other queue: in this one it has its second node. */
static void init_nested(void)
{
	init_hasty();
	check_world.spin_budget[0] = UINT32_MAX;
	lk_osq_lock(&other);
}

static void lock_nested(u32 id)
{
	if (id) {
		two_queues(id);
		return;
	}
	lock_if_possible(id);
	lk_osq_unlock(&other);
}

static void init_no_slots(void)
{
	check_world.no_slots = true;
}

static void finish(void)
{
	check_sections();
	CHECK(atomic_read(&osq.tail) == 0 && atomic_read(&other.tail) == 0,
	      "a queue is not empty at the end");
}

const struct check_client check_osq_lock[] = {
	{ "osq_lock", "exclusion", "one holder at a time", 3, 2, 3, 900, 16,
	  NULL, lock_if_possible, finish },
	{ "osq_lock", "pair", "two threads, seven preemptions", 2, 2, 7, 900, 0,
	  NULL, lock_if_possible, finish },
	{ "osq_lock", "cancel", "waiters leave the queue", 3, 2, 2, 900, 16,
	  init_impatient, lock_if_possible, finish },
	{ "osq_lock", "cancel_all",
	  "neighbouring waiters leave at the same time", 4, 1, 2, 900, 16,
	  init_hasty, lock_if_possible, finish },
	{ "osq_lock", "cancel_pair", "two threads, four preemptions", 2, 2, 4,
	  900, 0, init_hasty, lock_if_possible, finish },
	{ "osq_lock", "one_cpu", "the predecessor has lost its CPU", 3, 2, 1,
	  900, 16, init_one_cpu, lock_if_possible, finish },
	{ "osq_lock", "leave", "a waiter can leave whatever the holder does", 3,
	  1, 3, 900, 16, init_leave, leave, finish },
	{ "osq_lock", "between", "the one between two waiters leaves", 3, 1, 3,
	  900, 16, init_between, leave_between, finish },
	{ "osq_lock", "two_queues", "one node, two queues", 3, 1, 2, 900, 16,
	  init_hasty, two_queues, finish },
	{ "osq_lock", "nested", "two nodes of a thread, in two queues", 3, 1, 2,
	  900, 16, init_nested, lock_nested, finish },
	{ "osq_lock", "no_slots", "threads without a node", 3, 2, 2, 900, 16,
	  init_no_slots, lock_if_possible, finish },
	{ 0 },
};

const struct check_mutant mutants_osq_lock[] = {
	{ "leaves though the lock was granted", "cq_begin_leaving",
	  "try_cmpxchg_relaxed", NULL, "force" },
	{ "moves a successor that leaves", "cancel_queue.C", NULL, NULL,
	  "force" },
	{ "moves a successor in two steps", "cancel_queue.C", NULL, NULL,
	  "split" },
	{ "empties a queue that has grown", "osq.A", NULL, NULL, "force" },
	{ "predecessor not linked to an arrival", "cq_append", "WRITE_ONCE",
	  NULL, "drop" },
	{ "neighbours not linked by a leaver", "cq_move_up", "WRITE_ONCE", NULL,
	  "drop" },
	{ "last one leaves, and stays linked", "cq_retire", "WRITE_ONCE", NULL,
	  "drop" },
	{ "arrival does not say where it is", "cancel_queue.A", NULL, NULL,
	  "drop" },
	{ "successor never told", "cancel_queue.C", NULL, NULL, "drop" },
	{ "tail exchanged in two steps", "osq.B", NULL, NULL, "split" },
	{ 0 },
};
