// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Who is to be kicked: what the table promises of a node that it gives out. */
#include "frame.h"
#include "kick.h"

static struct lk_kick_table table;
static u32 lock;
/* By node, from 1: what its thread did before it posted it, and who kicked it. */
static u32 written[CHECK_THREADS + 1];
static u32 kicked[CHECK_THREADS + 1];

/* Odd threads post a node of their own, the others claim one. */
static void post_or_claim(u32 id)
{
	u16 node;

	if (id % 2) {
		EACH_ACQUISITION(written[id]++;
				 CHECK(lk_kick_post(&table, &lock, (u16)id),
				       "there is no room");
				 break);
		return;
	}
	EACH_ACQUISITION(node = lk_kick_claim(&table, &lock);
			 if (!node) continue;
			 CHECK(written[node], "a node is not as it was posted");
			 CHECK(!kicked[node]++, "a node is claimed twice"));
}

static void finish(void)
{
	u16 node = lk_kick_claim(&table, &lock);

	CHECK(!node || !kicked[node], "a node is claimed twice");
	CHECK(!lk_kick_claim(&table, &lock), "an entry stays");
}

const struct check_client check_kick[] = {
	{ "qspinlock_pv", "kicks", "a node that is to be kicked", 3, 1, 2, 600,
	  16, NULL, post_or_claim, finish },
	{ 0 },
};

const struct check_mutant mutants_kick[] = {
	{ 0 },
};
