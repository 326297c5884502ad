// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "tas_lock.h"

static struct lk_tas lock;

static void init(void)
{
	lock = (struct lk_tas){ 0 };
}

static void exclusion(u32 id)
{
	u32 i;

	(void)id;
	for (i = 0; i < check_acquisitions; i++) {
		lk_tas_lock(&lock);
		critical_section();
		lk_tas_unlock(&lock);
	}
}

static void finish(void)
{
	check_all_sections();
	CHECK(lk_tas_trylock(&lock), "the lock is not free at the end");
}

const struct check_client check_tas_lock[] = {
	{ "tas_lock", "exclusion", "one holder at a time", 3, 2, 2, 60, 8, init,
	  exclusion, finish },
	{ 0 },
};

const struct check_mutant mutants_tas_lock[] = {
	{ "test and set in two steps", "tas.A", NULL, "split" },
	{ 0 },
};
