// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The table of clusters, as the user world has it. */
#include "frame.h"
#include "user/cluster.h"

#define CPUS 2u

static u16 of[CPUS];
static u32 total, learner;
/* The learner's own. */
static u16 draft[CPUS];
static u32 drafted;

/* One cluster more, and one CPU in it. */
static void learn(void)
{
	if (!lkp_learn_begin(&learner, 1))
		return;
	drafted++;
	draft[drafted % CPUS] = (u16)drafted;
	lwc_others_may_run();
	lkp_cluster_publish(of, &total, draft, CPUS, drafted);
	lkp_learn_end(&learner);
}

static void look(void)
{
	u32 cpu, n;

	for (cpu = 0; cpu < CPUS; cpu++) {
		n = lkp_cluster_entry(&of[cpu]);
		CHECK(!n || n <= READ_ONCE(total), "an index past the count");
	}
}

static void learn_and_look(u32 id)
{
	(void)id;
	EACH_ACQUISITION(learn(); look());
}

/* There were more. */
static void init_more(void)
{
	total = 3;
}

static void only_learn(u32 id)
{
	(void)id;
	EACH_ACQUISITION(learn());
}

/* The learner's process has forked: its epoch is older. */
static void init_left(void)
{
	learner = 7;
}

static void finish(void)
{
	CHECK(!READ_ONCE(learner), "a learner is left");
	CHECK(READ_ONCE(total) == drafted && drafted, "the count is wrong");
}

const struct check_client check_cluster[] = {
	{ "cluster", "learn", "one learner, and no index past the count", 3, 1,
	  2, 600, 16, NULL, learn_and_look, finish },
	{ "cluster", "pair", "two threads learn twice each", 2, 2, 3, 600, 0,
	  NULL, learn_and_look, finish },
	{ "cluster", "left", "the learner was in the parent", 2, 1, 3, 600, 0,
	  init_left, learn_and_look, finish },
	{ "cluster", "fewer", "the count goes down", 2, 1, 3, 600, 0, init_more,
	  only_learn, finish },
	{ 0 },
};

const struct check_mutant mutants_cluster[] = {
	{ "two threads learn at once", "cluster.C", NULL, NULL, "split" },
	{ "nobody may learn again", "cluster.D", NULL, NULL, "drop" },
	{ "the count stays as it was", "lkp_cluster_publish", "WRITE_ONCE",
	  NULL, "drop" },
	{ 0 },
};
