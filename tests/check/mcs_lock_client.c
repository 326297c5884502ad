// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "mcs_lock.h"

static struct lk_mcs lock, other;

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_mcs_lock(&lock); critical_section();
			 lk_mcs_unlock(&lock));
}

/* Odd threads only try. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) lk_mcs_lock(&lock);
			 else if (!lk_mcs_trylock(&lock)) continue;
			 critical_section(); lk_mcs_unlock(&lock));
}

/* The others hold a node of another queue meanwhile. */
static void nested(u32 id)
{
	EACH_ACQUISITION(if (id > 0) lk_mcs_lock(&other); lk_mcs_lock(&lock);
			 critical_section(); lk_mcs_unlock(&lock);
			 if (id > 0) lk_mcs_unlock(&other));
}

/* Nobody has a node to queue with: tries fail, and nothing else happens. */
static void init_no_slots(void)
{
	check_world.no_slots = true;
}

static void try_in_vain(u32 id)
{
	(void)id;
	EACH_ACQUISITION(CHECK(!lk_mcs_trylock(&lock),
			       "taken by a thread without a node"));
}

static u64 held_by;

static void init_held(void)
{
	lk_mcs_lock(&lock);
	held_by = lk_mcs_ops.last_waiter(&lock);
}

/* Thread 0 holds. A thread that finds a node of another one is behind that. */
static void arrive_in_order(u32 id)
{
	u64 last = lk_mcs_ops.last_waiter(&lock);

	if (id > 0) {
		lk_mcs_lock(&lock);
		served_after(id == 2 && last && last != held_by ? 1 : NOBODY);
	}
	lk_mcs_unlock(&lock);
}

static void finish(void)
{
	check_sections();
	CHECK(!lk_mcs_ops.last_waiter(&lock), "the queue is not empty");
}

const struct check_client check_mcs_lock[] = {
	{ "mcs_lock", "exclusion", "one holder at a time", 3, 2, 2, 300, 16,
	  NULL, lock_and_unlock, finish },
	{ "mcs_lock", "pair", "two threads, five preemptions", 2, 2, 5, 300, 0,
	  NULL, lock_and_unlock, finish },
	{ "mcs_lock", "try", "a try that fails changes nothing", 3, 2, 2, 300,
	  16, NULL, lock_or_try, finish },
	{ "mcs_lock", "nested", "a thread holds two locks with two nodes", 3, 2,
	  2, 300, 16, NULL, nested, finish },
	{ "mcs_lock", "no_slots", "threads without a node", 3, 2, 2, 300, 16,
	  init_no_slots, try_in_vain, finish },
	{ "mcs_lock", "fifo", "waiters acquire in arrival order", 3, 1, 3, 300,
	  3, init_held, arrive_in_order, finish },
	{ 0 },
};

const struct check_mutant mutants_mcs_lock[] = {
	{ "tail exchanged in two steps", "lk_mcs_lock", "xchg_acquire", NULL,
	  "split" },
	{ "try takes a tail that is there", "lk_mcs_trylock",
	  "try_cmpxchg_acquire", NULL, "force" },
	{ "does not wait to be granted", "mcs.C", NULL, NULL, "no_wait" },
	{ "predecessor not told of its successor", "lk_mcs_lock", "WRITE_ONCE",
	  NULL, "drop" },
	{ "empties a queue that has grown", "mcs.D", NULL, NULL, "force" },
	{ "successor never told", "mcs.F", NULL, NULL, "drop" },
	{ 0 },
};
