// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What is learned of one lock, by several threads at a time. */
#include "adapt.h"
#include "frame.h"

static u32 lock, other;

/* Time stands still in this world, so clients say what time it is. */
#define LATER 100000u

static void look(u32 id)
{
	static u32 times[CHECK_THREADS];

	EACH_ACQUISITION(lk_adapt_look_at(id % 2 ? &other : &lock, id, LK_WAYS,
					  ++times[id] * LATER));
}

static void look_at_one(u32 id)
{
	EACH_ACQUISITION(
		lk_adapt_look_at(&lock, id, LK_WAYS, LATER + id * 100));
}

static void finish(void)
{
	CHECK(lk_adapt_way(&lock) == LK_WAY_SPIN, "it learned from nothing");
}

const struct check_client check_adapt[] = {
	{ "mutex", "learns", "windows of one lock end once each", 3, 2, 2, 600,
	  16, NULL, look_at_one, finish },
	{ "mutex", "learns_two", "and two locks have one entry", 3, 2, 2, 600,
	  16, NULL, look, finish },
	{ 0 },
};

const struct check_mutant mutants_adapt[] = {
	{ 0 },
};
