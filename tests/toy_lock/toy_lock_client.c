// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "toy_lock.h"

static struct lk_toy lock;

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_toy_lock(&lock); critical_section();
			 lk_toy_unlock(&lock));
}

static void finish(void)
{
	check_sections();
	CHECK(!READ_ONCE(lock.held), "the lock is not free at the end");
}

const struct check_client check_toy_lock[] = {
	{ "toy_lock", "exclusion", "one holder at a time", 3, 2, 2, 300, 16,
	  NULL, lock_and_unlock, finish },
	{ 0 },
};

const struct check_mutant mutants_toy_lock[] = {
	{ "test and set in two steps", "toy.A", NULL, NULL, "split" },
	{ 0 },
};
