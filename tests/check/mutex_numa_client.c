// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The mutex's own logic is mutex_client.c's; here it is over another queue. */
#include "mutex_numa.h"
#include "numa.h"

static struct lk_mutex lock;

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_mutex_numa_lock(&lock); critical_section();
			 lk_mutex_unlock(&lock));
}

static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) lk_mutex_numa_lock(&lock);
			 else if (!lk_mutex_trylock(&lock)) continue;
			 critical_section(); lk_mutex_unlock(&lock));
}

static void init_spinning(void)
{
	spin_divided(1);
}

static void init_sleepers(void)
{
	spin_divided(0);
}

static void init_deep(void)
{
	init_sleepers();
	lk_knob_osq_pool = 0;
}

static void init_forked(void)
{
	init_spinning();
	fork_divided(&lock.osq);
	lock.parked = 1;
}

static void finish(void)
{
	check_sections();
	CHECK(lk_mutex_trylock(&lock), "the lock is not free at the end");
	CHECK(!lock.first, "somebody is on the list at the end");
	check_nobody_spins(&lock.osq);
}

const struct check_client check_mutex_numa[] = {
	{ "mutex_numa", "exclusion", "one holder at a time", 3, 2, 2, 600, 16,
	  init_deep, lock_or_try, finish },
	{ "mutex_numa", "sleepers",
	  "spinning waiters divide the queue and leave at once", 3, 1, 1, 600,
	  16, init_sleepers, lock_and_unlock, finish },
	{ "mutex_numa", "spinning", "one waiter spins, the others queue", 2, 2,
	  2, 600, 16, init_spinning, lock_and_unlock, finish },
	{ "mutex_numa", "fork", "waiters lost in a fork are forgotten", 2, 1, 3,
	  600, 16, init_forked, lock_and_unlock, finish },
	{ 0 },
};

const struct check_mutant mutants_mutex_numa[] = {
	{ "the gone are never forgotten", "epoch.B", NULL, NULL, "drop" },
	{ 0 },
};
