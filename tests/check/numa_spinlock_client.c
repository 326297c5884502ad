// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* How its queue divides and joins is numa_osq_client.c's; here nobody leaves it. */
#include "numa.h"
#include "numa_spinlock.h"

static struct lk_numa_spin lock, other;

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_numa_spin_lock(&lock); critical_section();
			 lk_numa_spin_unlock(&lock));
}

/* Odd threads only try. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) lk_numa_spin_lock(&lock);
			 else if (!lk_numa_spin_trylock(&lock)) continue;
			 critical_section(); lk_numa_spin_unlock(&lock));
}

/* The others hold another lock meanwhile. */
static void nested(u32 id)
{
	EACH_ACQUISITION(if (id > 0) lk_numa_spin_lock(&other);
			 lk_numa_spin_lock(&lock); critical_section();
			 lk_numa_spin_unlock(&lock);
			 if (id > 0) lk_numa_spin_unlock(&other));
}

/*
 * The owner of a divided queue keeps that. Meanwhile it has another lock, whose
 * queue is divided too, and unlocks the first one first.
 */
static void hand_over_hand(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_numa_spin_lock(&lock); critical_section();
			 lk_numa_spin_lock(&other); lk_numa_spin_unlock(&lock);
			 lk_numa_spin_unlock(&other));
}

static void init_no_slots(void)
{
	check_world.no_slots = true;
}

/* Each head divides the queue, and joins it again as soon as a cluster is done. */
static void init_switching(void)
{
	check_world.clusters = 2;
	divide_at_once();
	make_hasty();
}

/* The same, but a cluster goes on while somebody waits in it. */
static void init_inside(void)
{
	init_switching();
	lk_knob_osq_keep_times = 1;
	lk_knob_osq_node_max = 2;
}

/* The same, and all are in the second of three clusters but thread 0. */
static void init_against_one(void)
{
	init_inside();
	check_world.clusters = 3;
}

static void finish(void)
{
	check_sections();
	CHECK(!lock.locked, "held at the end");
	CHECK(!lock.queue.tail, "the queue is not empty at the end");
	CHECK(divided() == 0, "divided, and nobody is there");
	CHECK(lk_numa_spin_trylock(&lock), "a free lock was not taken");
}

const struct check_client check_numa_spinlock[] = {
	{ "numa_spinlock", "exclusion",
	  "one holder at a time; waiters stay, however short their time is", 3,
	  2, 1, 300, 16, make_hasty, lock_and_unlock, finish },
	{ "numa_spinlock", "pair", "two threads, four preemptions", 2, 2, 4,
	  300, 0, NULL, lock_and_unlock, finish },
	{ "numa_spinlock", "try", "a try that fails changes nothing", 3, 2, 2,
	  300, 16, NULL, lock_or_try, finish },
	{ "numa_spinlock", "nested", "a thread holds two locks", 3, 2, 1, 300,
	  16, NULL, nested, finish },
	{ "numa_spinlock", "no_slots", "threads without a node", 3, 2, 1, 300,
	  16, init_no_slots, lock_and_unlock, finish },
	{ "numa_spinlock", "switching", "the queue divides and joins", 3, 1, 1,
	  600, 16, init_switching, lock_and_unlock, finish },
	{ "numa_spinlock", "inside", "the queue stays divided for a while", 3,
	  1, 2, 600, 16, init_inside, lock_and_unlock, finish },
	{ "numa_spinlock", "against_one", "two wait in one cluster", 3, 1, 2,
	  600, 16, init_against_one, lock_and_unlock, finish },
	{ "numa_spinlock", "switching_pair", "the same with two threads", 2, 2,
	  2, 600, 16, init_switching, lock_and_unlock, finish },
	{ "numa_spinlock", "hand_over_hand",
	  "a thread with two divided locks unlocks the first one first", 2, 2,
	  1, 600, 16, init_switching, hand_over_hand, finish },
	{ 0 },
};

const struct check_mutant mutants_numa_spinlock[] = {
	{ "takes a lock that is held, or passes who waits", "numa_spinlock.A",
	  NULL, NULL, "force" },
	{ "the head does not wait", "numa_spinlock.C", NULL, NULL, "no_wait" },
	{ "the head does not take it", "lk_numa_spin_lock_slow", "WRITE_ONCE",
	  NULL, "drop" },
	{ "never free again", "numa_spinlock.B", NULL, NULL, "drop" },
	{ "no link to an arrival that stays", "cancel_queue.D", NULL, NULL,
	  "drop" },
	{ "successor that stays never told", "cancel_queue.F", NULL, NULL,
	  "drop" },
	{ 0 },
};
