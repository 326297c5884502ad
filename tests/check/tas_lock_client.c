// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "tas_lock.h"

static struct lk_tas lock;

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_tas_lock(&lock); critical_section();
			 lk_tas_unlock(&lock));
}

/* Odd threads only try. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) lk_tas_lock(&lock);
			 else if (!lk_tas_trylock(&lock)) continue;
			 critical_section(); lk_tas_unlock(&lock));
}

static void finish(void)
{
	check_sections();
	CHECK(lk_tas_trylock(&lock), "the lock is not free at the end");
}

const struct check_client check_tas_lock[] = {
	{ "tas_lock", "exclusion", "one holder at a time", 3, 2, 2, 300, 16,
	  NULL, lock_and_unlock, finish },
	{ "tas_lock", "pair", "two threads, any number of preemptions", 2, 2,
	  NO_BOUND, 60, 0, NULL, lock_and_unlock, finish },
	{ "tas_lock", "try", "a try that fails changes nothing", 3, 2, 2, 300,
	  16, NULL, lock_or_try, finish },
	{ 0 },
};

const struct check_mutant mutants_tas_lock[] = {
	{ "test and set in two steps", "tas.A", NULL, NULL, "split" },
	{ "waits for nothing", "lk_tas_unlock", "smp_store_release", NULL,
	  "drop" },
	{ 0 },
};
