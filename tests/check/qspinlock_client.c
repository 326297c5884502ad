// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "qspinlock.h"

static struct lk_qspin lock, other;

static void init(void)
{
	lk_qspin_init(&lock);
	lk_qspin_init(&other);
}

static void in_mode(enum lk_qspin_mode mode)
{
	EACH_ACQUISITION(lk_qspin_lock(&lock, mode); critical_section();
			 lk_qspin_unlock(&lock));
}

static void fair(u32 id)
{
	(void)id;
	in_mode(LK_QSPIN_FAIR);
}

static void steal(u32 id)
{
	(void)id;
	in_mode(LK_QSPIN_STEAL);
}

static void tas(u32 id)
{
	(void)id;
	in_mode(LK_QSPIN_TAS);
}

/* Each thread in a mode of its own, on one lock. */
static void mixed(u32 id)
{
	in_mode(id % 3);
}

/* Odd threads only try. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) lk_qspin_lock(&lock, LK_QSPIN_FAIR);
			 else if (!lk_qspin_trylock(&lock)) continue;
			 critical_section(); lk_qspin_unlock(&lock));
}

/* A head that has lost once stops the stealers. */
static void init_impatient(void)
{
	init();
	check_world.steal_patience = 0;
}

/* Nobody has a node to queue with. */
static void init_no_slots(void)
{
	init();
	check_world.no_slots = true;
}

/* Thread 1 queues, and only it: the others take the lock past it. */
static void one_queues(u32 id)
{
	in_mode(id == 1 ? LK_QSPIN_STEAL : LK_QSPIN_TAS);
}

/* The node of a thread is in the queue of one lock, then of the other. */
static void two_locks(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_qspin_lock(&lock, LK_QSPIN_STEAL);
			 lk_qspin_unlock(&lock);
			 lk_qspin_lock(&other, LK_QSPIN_STEAL);
			 critical_section(); lk_qspin_unlock(&other));
}

static void init_held(void)
{
	init();
	lk_qspin_lock(&lock, LK_QSPIN_FAIR);
}

/* Who queued last; where only one other thread can have, the pending one. */
static u32 who_waits(u32 id)
{
	u32 val = atomic_read(&lock.val);

	if (val & LK_Q_TAIL_MASK)
		return (val >> (LK_Q_TAIL_SHIFT + 2)) - 1;
	return id == 2 && check_threads == 3 && val & LK_Q_PENDING ? 1 : NOBODY;
}

static void arrive_in_order(u32 id)
{
	u32 other = id == 0 ? 0 : who_waits(id);

	if (id > 0) {
		lk_qspin_lock(&lock, LK_QSPIN_FAIR);
		served_after(other);
	}
	lk_qspin_unlock(&lock);
}

/* After a fork: the word names waiters that are gone. */
static void init_forked(void)
{
	init();
	check_world.epoch = 1;
	atomic_set(&lock.val, 7u << LK_Q_TAIL_SHIFT | LK_Q_PENDING);
}

static void finish(void)
{
	check_sections();
	CHECK(lk_qspin_trylock(&lock), "the lock is not free at the end");
}

const struct check_client check_qspinlock[] = {
	{ "qspinlock_fair", "exclusion", "one holder at a time", 3, 2, 2, 300,
	  16, init, fair, finish },
	{ "qspinlock_fair", "crowd", "the queue is longer than two", 4, 1, 2,
	  300, 32, init, fair, finish },
	{ "qspinlock_fair", "pair", "two threads, any number of preemptions", 2,
	  2, NO_BOUND, 300, 0, init, fair, finish },
	{ "qspinlock_fair", "try", "a try that fails changes nothing", 3, 2, 2,
	  300, 16, init, lock_or_try, finish },
	{ "qspinlock_fair", "fifo", "served in order of arrival", 3, 1, 3, 300,
	  3, init_held, arrive_in_order, finish },
	{ "qspinlock_fair", "fifo_queue", "the same, deeper in the queue", 4, 1,
	  2, 300, 16, init_held, arrive_in_order, finish },
	{ "qspinlock_fair", "no_slots", "waiters without a node", 3, 2, 2, 300,
	  16, init_no_slots, fair, finish },
	{ "qspinlock_fair", "fork", "waiters that are gone are forgotten", 3, 2,
	  2, 300, 16, init_forked, fair, finish },
	{ "qspinlock_steal", "exclusion", "one holder at a time", 3, 2, 2, 300,
	  16, init, steal, finish },
	{ "qspinlock_steal", "pair", "two threads, any number of preemptions",
	  2, 2, NO_BOUND, 300, 0, init, steal, finish },
	{ "qspinlock_steal", "stop", "a head stops the stealers", 3, 2, 2, 300,
	  16, init_impatient, one_queues, finish },
	{ "qspinlock_steal", "stop_all", "heads stop each other's stealing", 3,
	  2, 2, 300, 16, init_impatient, steal, finish },
	{ "qspinlock_steal", "two_locks", "one node, two queues", 3, 2, 2, 300,
	  16, init, two_locks, finish },
	{ "qspinlock_steal", "mixed", "three modes on one lock", 3, 2, 2, 300,
	  16, init, mixed, finish },
	{ "qspinlock_tas", "exclusion", "one holder at a time", 3, 2, 2, 300,
	  16, init, tas, finish },
	{ "qspinlock_tas", "pair", "two threads, any number of preemptions", 2,
	  2, NO_BOUND, 300, 0, init, tas, finish },
	{ 0 },
};

const struct check_mutant mutants_qspinlock[] = {
	{ "forgotten tail check", "qspinlock.G", NULL, NULL, "force" },
	{ "wrong pending hand-over", "pending_to_locked", "WRITE_ONCE", NULL,
	  "narrow" },
	{ "pending bit not given back", "lock_pending", "WRITE_ONCE", NULL,
	  "drop" },
	{ "predecessor not told of its successor", "lock_queued", "WRITE_ONCE",
	  "decode_tail(old)->next", "drop" },
	{ "head does not wait for the pending owner", "qspinlock.F", NULL, NULL,
	  "no_wait" },
	{ "successor does not wait to be head", "lock_queued",
	  "smp_cond_load_relaxed", "&node->head", "no_wait" },
	{ "tail exchanged in two steps", "qspinlock.I", NULL, NULL, "split" },
	{ "successor never made head", "lock_queued", "WRITE_ONCE",
	  "next->head", "drop" },
	{ 0 },
};
