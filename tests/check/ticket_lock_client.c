// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "ticket_lock.h"

static struct lk_ticket lock;

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_ticket_lock(&lock); critical_section();
			 lk_ticket_unlock(&lock));
}

/* Odd threads only try. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) lk_ticket_lock(&lock);
			 else if (!lk_ticket_trylock(&lock)) continue;
			 critical_section(); lk_ticket_unlock(&lock));
}

/* The third ticket is 0 again. */
static void init_wrap(void)
{
	atomic_set(&lock.val, LK_TICKET_ONE * 0xfffe | 0xfffe);
}

static void init_held(void)
{
	init_wrap();
	lk_ticket_lock(&lock);
}

/* Thread 0 holds. The third thread is behind the one that has a ticket already. */
static void arrive_in_order(u32 id)
{
	bool behind;

	if (id > 0) {
		behind = id == 2 && lk_ticket_ops.last_waiter(&lock);
		lk_ticket_lock(&lock);
		served_after(behind ? 1 : NOBODY);
	}
	lk_ticket_unlock(&lock);
}

static void finish(void)
{
	check_sections();
	CHECK(lk_ticket_trylock(&lock), "the lock is not free at the end");
}

const struct check_client check_ticket_lock[] = {
	{ "ticket_lock", "exclusion", "one holder at a time", 3, 2, 2, 300, 16,
	  NULL, lock_and_unlock, finish },
	{ "ticket_lock", "pair", "two threads, any number of preemptions", 2, 2,
	  NO_BOUND, 60, 0, NULL, lock_and_unlock, finish },
	{ "ticket_lock", "try", "a try that fails changes nothing", 3, 2, 2,
	  300, 16, NULL, lock_or_try, finish },
	{ "ticket_lock", "wrap",
	  "the ticket wraps without a carry into its neighbour", 3, 1, 3, 300,
	  16, init_wrap, lock_and_unlock, finish },
	{ "ticket_lock", "fifo", "waiters acquire in arrival order", 3, 1, 3,
	  300, 3, init_held, arrive_in_order, finish },
	{ 0 },
};

const struct check_mutant mutants_ticket_lock[] = {
	{ "ticket drawn in two steps", "lk_ticket_lock",
	  "atomic_fetch_add_acquire", NULL, "split" },
	{ "try draws without comparing", "lk_ticket_trylock",
	  "atomic_try_cmpxchg_acquire", NULL, "force" },
	{ "does not wait for its turn", "ticket.B", NULL, NULL, "no_wait" },
	{ "next one never served", "ticket.C", NULL, NULL, "drop" },
	{ 0 },
};
