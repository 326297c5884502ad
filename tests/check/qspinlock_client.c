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
	in_mode(LK_QSPIN_ONLY_FAIR);
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
	EACH_ACQUISITION(
		if (id % 2 == 0) lk_qspin_lock(&lock, LK_QSPIN_ONLY_FAIR);
		else if (!lk_qspin_trylock(&lock, LK_QSPIN_ONLY_FAIR)) continue;
		critical_section(); lk_qspin_unlock(&lock));
}

static void pv(u32 id)
{
	(void)id;
	in_mode(LK_QSPIN_PV);
}

static void automatic(u32 id)
{
	(void)id;
	in_mode(LK_QSPIN_AUTO);
}

/* A waiter halts at once. */
static void init_halting(void)
{
	u32 i;

	init();
	check_world.halts = true;
	for (i = 0; i < check_threads; i++)
		check_world.spin_budget[i] = 0;
}

/* The same, and a head that has lost once stops the stealers. */
static void init_halting_impatient(void)
{
	init_halting();
	check_world.steal_rounds = 1;
	check_world.steal_patience = 0;
}

/* Thread 0 fair, the others pv: no store of a fair one may lose the flag. */
static void fair_and_pv(u32 id)
{
	in_mode(id == 0 ? LK_QSPIN_FAIR : LK_QSPIN_PV);
}

/*
 * Thread 2 halts, and only it; the others take the lock past it. One of them may
 * be so late to kick that the head has halted again.
 */
static void one_halts(u32 id)
{
	if (id == 2) {
		lk_qspin_lock(&lock, LK_QSPIN_PV);
		critical_section();
		lk_qspin_unlock(&lock);
	} else if (id == 0) {
		lk_qspin_lock(&lock, LK_QSPIN_TAS);
		critical_section();
		lk_qspin_unlock(&lock);
	} else {
		in_mode(LK_QSPIN_TAS);
	}
}

/* The same, where a sleeper may wake by itself. */
static void init_spurious(void)
{
	init_halting();
	check_world.spurious = 1;
}

/* Auto is fair until a waiter sees that it shares a CPU; from then on pv. */
static void init_auto(void)
{
	init_halting();
	check_world.one_cpu = true;
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
	lk_qspin_lock(&lock, LK_QSPIN_ONLY_FAIR);
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
		lk_qspin_lock(&lock, LK_QSPIN_ONLY_FAIR);
		served_after(other);
	}
	lk_qspin_unlock(&lock);
}

/* The same, by a holder that the modes may be mixed with. */
static void init_taken(void)
{
	init();
	lk_qspin_lock(&lock, LK_QSPIN_STEAL);
}

static void init_taken_halting(void)
{
	init_halting();
	lk_qspin_lock(&lock, LK_QSPIN_STEAL);
}

static void init_taken_hypervisor(void)
{
	init_taken();
	check_world.hypervisor = true;
}

/* Thread 0 holds. It lets go once somebody is in the queue. */
static void unlock_before_queue(void)
{
	atomic_cond_read_relaxed(&lock.val, VAL & LK_Q_TAIL_MASK);
	lk_qspin_unlock(&lock);
}

/*
 * Of two threads, one queues. The other's try fails only if that one has taken
 * the lock, and has emptied the queue by the same step.
 */
static void try_past_queue(u32 id, enum lk_qspin_mode mode,
			   enum lk_qspin_mode try_mode)
{
	if (id > 0) {
		in_mode(mode);
		return;
	}
	unlock_before_queue();
	if (lk_qspin_trylock(&lock, try_mode)) {
		critical_section();
		lk_qspin_unlock(&lock);
	} else {
		CHECK(!(atomic_read(&lock.val) & LK_Q_TAIL_MASK),
		      "a try failed, with only a queue in its way");
	}
}

static void try_steal(u32 id)
{
	try_past_queue(id, LK_QSPIN_STEAL, LK_QSPIN_STEAL);
}

static void try_tas(u32 id)
{
	try_past_queue(id, LK_QSPIN_STEAL, LK_QSPIN_TAS);
}

static void try_pv(u32 id)
{
	try_past_queue(id, LK_QSPIN_PV, LK_QSPIN_PV);
}

static void try_auto(u32 id)
{
	try_past_queue(id, LK_QSPIN_AUTO, LK_QSPIN_AUTO);
}

/* Threads 1 and 2 wait; a try that succeeds has let both go first. */
static void try_behind_queue(u32 id, enum lk_qspin_mode mode)
{
	if (id > 0) {
		lk_qspin_lock(&lock, mode);
		served_after(NOBODY);
		lk_qspin_unlock(&lock);
		return;
	}
	unlock_before_queue();
	if (lk_qspin_trylock(&lock, mode)) {
		served_after(1);
		served_after(2);
		lk_qspin_unlock(&lock);
	}
}

static void try_fair(u32 id)
{
	try_behind_queue(id, LK_QSPIN_ONLY_FAIR);
}

static void try_auto_fair(u32 id)
{
	try_behind_queue(id, LK_QSPIN_AUTO);
}

/* Thread 1 queues and soon stops the stealing; the others only try. */
static void try_stopped(u32 id)
{
	if (id == 1) {
		in_mode(LK_QSPIN_STEAL);
		return;
	}
	EACH_ACQUISITION(if (!lk_qspin_trylock(&lock, LK_QSPIN_STEAL)) continue;
			 critical_section(); lk_qspin_unlock(&lock));
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
	CHECK(lk_qspin_trylock(&lock, LK_QSPIN_FAIR),
	      "the lock is not free at the end");
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
	{ "qspinlock_fair", "fifo", "waiters acquire in arrival order", 3, 1, 3,
	  300, 3, init_held, arrive_in_order, finish },
	{ "qspinlock_fair", "fifo_queue", "the same, deeper in the queue", 4, 1,
	  2, 300, 16, init_held, arrive_in_order, finish },
	{ "qspinlock_fair", "no_slots", "waiters without a node", 3, 2, 2, 300,
	  16, init_no_slots, fair, finish },
	{ "qspinlock_fair", "fork", "waiters lost in a fork are forgotten", 3,
	  2, 2, 300, 16, init_forked, fair, finish },
	{ "qspinlock_fair", "try_queue", "a try fails while others wait", 3, 1,
	  3, 300, 0, init_held, try_fair, finish },
	{ "qspinlock_steal", "exclusion", "one holder at a time", 3, 2, 2, 300,
	  16, init, steal, finish },
	{ "qspinlock_steal", "pair", "two threads, any number of preemptions",
	  2, 2, NO_BOUND, 300, 0, init, steal, finish },
	{ "qspinlock_steal", "stop", "a queue head stops stealing", 3, 2, 2,
	  300, 16, init_impatient, one_queues, finish },
	{ "qspinlock_steal", "stop_all",
	  "two queue heads stop stealing at once", 3, 2, 2, 300, 16,
	  init_impatient, steal, finish },
	{ "qspinlock_steal", "two_locks",
	  "one node in two queues, one after the other", 3, 2, 2, 300, 16, init,
	  two_locks, finish },
	{ "qspinlock_steal", "mixed", "three modes on one lock", 3, 2, 2, 300,
	  16, init, mixed, finish },
	{ "qspinlock_steal", "try_queue", "a try goes past the queue", 2, 1,
	  NO_BOUND, 300, 0, init_taken, try_steal, finish },
	{ "qspinlock_steal", "try_stopped", "no try where pending is set", 3, 2,
	  2, 300, 16, init_impatient, try_stopped, finish },
	{ "qspinlock_tas", "exclusion", "one holder at a time", 3, 2, 2, 300,
	  16, init, tas, finish },
	{ "qspinlock_tas", "pair", "two threads, any number of preemptions", 2,
	  2, NO_BOUND, 300, 0, init, tas, finish },
	{ "qspinlock_tas", "try_queue", "a try goes past the queue", 2, 1,
	  NO_BOUND, 300, 0, init_taken, try_tas, finish },
	{ "qspinlock_pv", "exclusion", "one holder at a time", 3, 1, 2, 300, 16,
	  init_halting, pv, finish },
	{ "qspinlock_pv", "again", "a node that was kicked is queued again", 3,
	  2, 2, 300, 16, init_halting, pv, finish },
	{ "qspinlock_pv", "pair", "two threads, five preemptions", 2, 2, 5, 300,
	  0, init_halting, pv, finish },
	{ "qspinlock_pv", "stop", "a queue head stops stealing, then halts", 3,
	  1, 2, 300, 16, init_halting_impatient, pv, finish },
	{ "qspinlock_pv", "late_kick", "a late kick is not lost", 3, 2, 3, 300,
	  0, init_halting, one_halts, finish },
	{ "qspinlock_pv", "spurious", "the same, and sleepers wake early", 3, 1,
	  3, 300, 0, init_spurious, one_halts, finish },
	{ "qspinlock_pv", "mixed", "fair waiters beside halting ones", 3, 1, 2,
	  300, 16, init_halting, fair_and_pv, finish },
	{ "qspinlock_pv", "try_queue", "a try goes past a head that halts", 2,
	  1, 4, 300, 0, init_taken_halting, try_pv, finish },
	{ "qspinlock_auto", "try_queue", "on a hypervisor a try steals", 2, 1,
	  NO_BOUND, 300, 0, init_taken_hypervisor, try_auto, finish },
	{ "qspinlock_auto", "try_fair", "elsewhere it fails while others wait",
	  3, 1, 3, 300, 0, init_taken, try_auto_fair, finish },
	{ "qspinlock_auto", "switch", "the mode changes while threads wait", 3,
	  2, 2, 300, 16, init_auto, automatic, finish },
	{ 0 },
};

const struct check_mutant mutants_qspinlock[] = {
	{ "forgotten tail check", "qspinlock.G", NULL, NULL, "force" },
	{ "wrong pending hand-over", "pending_to_locked", "WRITE_ONCE", NULL,
	  "narrow" },
	{ "two pending waiters", "qspinlock.D", NULL, NULL, "force" },
	{ "predecessor not told of its successor", "lock_queued", "WRITE_ONCE",
	  "decode(old)->next", "drop" },
	{ "head does not wait for the pending owner", "qspinlock.F", NULL, NULL,
	  "no_wait" },
	{ "successor does not wait to be head", "wait_in_queue",
	  "smp_cond_load_acquire", "&node->state", "no_wait" },
	{ "tail exchanged in two steps", "qspinlock.I", NULL, NULL, "split" },
	{ "successor never made head", "make_head", "smp_store_release",
	  "&next->state", "drop" },
	{ "sleeping successor never made head", "make_head", "WRITE_ONCE",
	  "next->state", "drop" },
	{ "head takes without storing", "head_take", "WRITE_ONCE",
	  "lock->locked", "drop" },
	{ "arrival steals what is not free", "qspinlock.C", NULL, NULL,
	  "force" },
	{ "the kicked one is not woken", "kick", "kick_value", NULL, "drop" },
	{ 0 },
};
