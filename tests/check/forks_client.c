// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A fork that several threads of the child notice at once, and the slots after it. */
#include "frame.h"
#include "user/forks.h"
#include "user/slots.h"

#define SLOTS 2u

static u32 state;
static u32 epoch, beginners;
static struct lkp_slots slots;
static u32 node[SLOTS + 1];

/* The kernel has cleared the page. The slots are the parent's. */
static void init(void)
{
	state = LKP_FORK_NEW;
	slots.hint = SLOTS + 1;
	atomic_set(&slots.used, 1);
	slots.tid[2] = 7;
}

/* As lkp_after_fork(). */
static void notice(void)
{
	if (lkp_fork_is_done(&state) || !lkp_fork_begin(&state))
		return;
	beginners++;
	lkp_slots_forget(&slots, SLOTS);
	WRITE_ONCE(epoch, READ_ONCE(epoch) + 1);
	lkp_fork_end(&state);
}

static void notice_and_take(u32 id)
{
	u32 slot;

	notice();
	CHECK(READ_ONCE(epoch) == 1, "a thread lives in another epoch");
	EACH_ACQUISITION(slot = lkp_slots_take(&slots, 100 + id, SLOTS);
			 if (!slot) continue;
			 CHECK(!node[slot], "two threads have one slot");
			 node[slot] = 1; lwc_others_may_run(); node[slot] = 0;
			 lkp_slots_put(&slots, slot));
}

static void finish(void)
{
	CHECK(beginners == 1, "the fork was not noticed once");
	CHECK(!READ_ONCE(slots.tid[1]) && !READ_ONCE(slots.tid[2]) &&
		      !atomic_read(&slots.used),
	      "a slot is lost");
}

/* No page is mapped yet: all threads come with one of their own. */
static u32 no_page, pages[CHECK_THREADS], *page;

static void init_unmapped(void)
{
	page = &no_page;
}

static void map_and_ask(u32 id)
{
	u32 *mine = lkp_fork_state(&page);

	if (mine == &no_page)
		(void)lkp_fork_keep(&page, &no_page, &pages[id]);
	mine = lkp_fork_state(&page);
	CHECK(mine != &no_page, "no page was kept");
	EACH_ACQUISITION(
		CHECK(lkp_fork_is_done(lkp_fork_state(&page)),
		      "a new page is taken for a fork");
		CHECK(lkp_fork_state(&page) == mine, "another page was kept"));
}

const struct check_client check_forks[] = {
	{ "forks", "notice", "one thread notices, the others wait for it", 3, 1,
	  1, 600, 16, init, notice_and_take, finish },
	{ "forks", "pair", "two threads, three preemptions", 2, 1, 3, 600, 0,
	  init, notice_and_take, finish },
	{ "forks", "map", "several threads map the page", 3, 2, 2, 600, 16,
	  init_unmapped, map_and_ask, NULL },
	{ 0 },
};

const struct check_mutant mutants_forks[] = {
	{ "the first two threads both notice", "lkp_fork_begin",
	  "try_cmpxchg_relaxed", NULL, "split" },
	{ "a thread does not wait for the one that noticed", "lkp_fork_begin",
	  "smp_cond_load_acquire", NULL, "no_wait" },
	{ "the end is not told", "forks.A", NULL, NULL, "drop" },
	{ "a second page is kept", "forks.C", NULL, NULL, "force" },
	{ 0 },
};
