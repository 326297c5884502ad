// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "mutex.h"

static struct lk_mutex lock;

static void init(void)
{
	u32 i;

	lock = (struct lk_mutex)LK_MUTEX_INIT;
	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = 0;
}

static void exclusion(u32 id)
{
	u32 i;

	(void)id;
	for (i = 0; i < check_acquisitions; i++) {
		lk_mutex_lock(&lock);
		critical_section();
		lk_mutex_unlock(&lock);
	}
}

static void finish(void)
{
	check_all_sections();
	CHECK(lk_mutex_trylock(&lock), "the lock is not free at the end");
}

const struct check_client check_mutex[] = {
	{ "mutex", "exclusion", "one holder at a time", 3, 2, 2, 600, 8, init,
	  exclusion, finish },
	{ 0 },
};

const struct check_mutant mutants_mutex[] = {
	{ "sleeper announced without parked", "announce", "WRITE_ONCE", "drop" },
	{ 0 },
};
