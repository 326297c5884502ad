// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "qspinlock.h"

static struct lk_qspin lock, other;
/* Threads that have not used the lock yet. */
static u32 users;

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

/* As in the kernel: the last user frees the lock, while another unlock may not have returned. */
static void init_freed(void)
{
	init_halting();
	check_world.posix = true;
	users = check_threads;
}

static void use_and_free(u32 id)
{
	bool last;

	(void)id;
	lk_qspin_lock(&lock, LK_QSPIN_PV);
	critical_section();
	last = --users == 0;
	lk_qspin_unlock(&lock);
	if (last)
		lock = (struct lk_qspin){ .locked = 0xff };
}

/* The same, and a head that has lost once stops the stealers. */
static void init_halting_impatient(void)
{
	init_halting();
	check_world.steal_rounds = 1;
	check_world.steal_patience = 0;
}

/* The same, but it is known that CPUs are short. */
static void init_short(void)
{
	init_halting_impatient();
	check_world.steal_rounds = 0;
	check_world.cpus_short = true;
	check_world.short_rounds = 1;
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

/* Threads 1 and up leave, if the lock is free when they look. */
static void init_leaving(void)
{
	init();
	leave_from(1);
}

/* They may, but none does. */
static void init_staying(void)
{
	init();
	check_world.leave = true;
}

/* All do. Nobody would be served if one could not. */
static void init_all_leave(void)
{
	init();
	leave_from(0);
}

/* The head of the queue, of a slot that no thread has, is stopped. */
static void init_head_stopped(void)
{
	init_all_leave();
	atomic_set(&lock.val, 20u << (LK_Q_TAIL_SHIFT + 2));
}

/* So is the pending waiter. */
static void init_pending_stopped(void)
{
	init_all_leave();
	atomic_set(&lock.val, LK_Q_PENDING);
}

/* Waiters halt at once, look again, and leave. */
static void init_halting_leaving(void)
{
	u32 i;

	init_leaving();
	check_world.halts = true;
	check_world.naps = true;
	for (i = 0; i < check_threads; i++)
		check_world.spin_budget[i] = 0;
}

static void init_head_stopped_halting(void)
{
	init_halting_leaving();
	leave_from(0);
	atomic_set(&lock.val, 20u << (LK_Q_TAIL_SHIFT + 2));
}

static void mode_fair(u32 id)
{
	(void)id;
	in_mode(LK_QSPIN_FAIR);
}

/* Even threads fair, the others steal, and stop the stealing soon. */
static void fair_and_steal(u32 id)
{
	in_mode(id % 2 ? LK_QSPIN_STEAL : LK_QSPIN_FAIR);
}

static void init_impatient_leaving(void)
{
	init_all_leave();
	check_world.steal_patience = 0;
}

/*
 * As the queue of another lock, which is free all the time. Thread 0 is stopped while it
 * holds, until the others have left, been served or not.
 */
static u32 free_word;
static atomic_t through;

static void init_queue(void)
{
	init_leaving();
	free_word = 0;
	atomic_set(&through, 0);
}

static void leave_holder(u32 id, enum lk_qspin_mode mode)
{
	const struct lk_qspin_watch watch = { .word = &free_word, .busy = ~0u };
	bool held = lk_qspin_lock_or_leave(&lock, mode, &watch);

	if (id == 0 && held)
		atomic_cond_read_relaxed(&through,
					 VAL == (int)check_threads - 1);
	if (held) {
		critical_section();
		lk_qspin_unlock(&lock);
	}
	atomic_add(id != 0, &through);
}

static void leave_holder_alone(u32 id)
{
	leave_holder(id, LK_QSPIN_ONLY_FAIR);
}

static void leave_holder_fair(u32 id)
{
	leave_holder(id, LK_QSPIN_FAIR);
}

static void leave_holder_steal(u32 id)
{
	leave_holder(id, LK_QSPIN_STEAL);
}

static void leave_holder_pv(u32 id)
{
	leave_holder(id, LK_QSPIN_PV);
}

/* One waiter leaves, the others do not. */
static void init_one_leaves(void)
{
	init_queue();
	check_world.leaves[2] = check_world.leaves[3] = false;
}

static void init_queue_impatient(void)
{
	init_queue();
	leave_from(0);
	check_world.steal_patience = 0;
}

static void init_queue_halting(void)
{
	init_queue();
	init_halting_leaving();
}

/* Sleepers look early, too, and leave. */
static void init_queue_spurious(void)
{
	init_queue_halting();
	check_world.spurious = 1;
}

static void init_queue_no_slots(void)
{
	init_queue();
	check_world.no_slots = true;
}

/* Nobody is stopped: some leave, some do not. */
static void leave_or_not(enum lk_qspin_mode mode)
{
	const struct lk_qspin_watch watch = { .word = &free_word, .busy = ~0u };

	EACH_ACQUISITION(
		if (!lk_qspin_lock_or_leave(&lock, mode, &watch)) continue;
		critical_section(); lk_qspin_unlock(&lock));
}

static void leave_or_not_fair(u32 id)
{
	(void)id;
	leave_or_not(LK_QSPIN_ONLY_FAIR);
}

static void leave_or_not_steal(u32 id)
{
	(void)id;
	leave_or_not(LK_QSPIN_STEAL);
}

static void leave_or_not_pv(u32 id)
{
	(void)id;
	leave_or_not(LK_QSPIN_PV);
}

static void finish_some(void)
{
	CHECK((u32)atomic_read(&lock.val) == wait_tag(),
	      "the lock is not as new at the end");
}

/* The one that is stopped is still there. */
static void finish_stopped(void)
{
	check_sections();
	CHECK(!lock.locked, "the lock is not free at the end");
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
	{ "qspinlock_pv", "short", "the same where CPUs are short", 3, 1, 2,
	  300, 0, init_short, pv, finish },
	{ "qspinlock_pv", "late_kick", "a late kick is not lost", 3, 2, 3, 300,
	  0, init_halting, one_halts, finish },
	{ "qspinlock_pv", "spurious", "the same, and sleepers wake early", 3, 1,
	  3, 300, 0, init_spurious, one_halts, finish },
	{ "qspinlock_pv", "freed", "freed by the last user", 3, 1, 3, 300, 0,
	  init_freed, use_and_free, NULL },
	{ "qspinlock_pv", "freed_mixed", "no kick is lost, by such an unlock",
	  3, 2, 2, 300, 16, init_freed, fair_and_pv, finish },
	{ "qspinlock_pv", "mixed", "fair waiters beside halting ones", 3, 1, 2,
	  300, 16, init_halting, fair_and_pv, finish },
	{ "qspinlock_pv", "try_queue", "a try goes past a head that halts", 2,
	  1, 4, 300, 0, init_taken_halting, try_pv, finish },
	{ "qspinlock_auto", "try_queue", "on a hypervisor a try steals", 2, 1,
	  NO_BOUND, 300, 0, init_taken_hypervisor, try_auto, finish },
	{ "qspinlock_auto", "try_fair", "elsewhere it fails while others wait",
	  3, 1, 3, 300, 0, init_taken, try_auto_fair, finish },
	{ "qspinlock_fair", "stay", "one holder where waiters may leave", 3, 2,
	  2, 300, 16, init_staying, fair, finish },
	{ "qspinlock_fair", "leave", "waiters leave the queue of another lock",
	  3, 2, 2, 300, 0, init_queue, leave_or_not_fair, finish_some },
	{ "qspinlock_fair", "leave_crowd", "the same, in a longer queue", 4, 1,
	  2, 300, 0, init_queue, leave_or_not_fair, finish_some },
	{ "qspinlock_fair", "one_leaves", "the others queue past it", 4, 1, 2,
	  300, 0, init_one_leaves, leave_or_not_fair, finish_some },
	{ "qspinlock_fair", "holder_stops", "none waits for a stopped holder",
	  3, 1, 3, 300, 0, init_queue, leave_holder_alone, finish_some },
	{ "qspinlock_fair", "holder_stops_no_slots",
	  "the same, of waiters without a node", 3, 1, 3, 300, 0,
	  init_queue_no_slots, leave_holder_alone, finish_some },
	{ "qspinlock_steal", "leave", "waiters leave a queue", 3, 2, 2, 300, 16,
	  init_leaving, steal, finish },
	{ "qspinlock_steal", "leave_crowd", "the same, in a longer queue", 4, 1,
	  1, 300, 32, init_leaving, steal, finish },
	{ "qspinlock_steal", "leave_fair", "the same, and a pending place", 3,
	  1, 3, 300, 16, init_all_leave, mode_fair, finish },
	{ "qspinlock_steal", "leave_stop", "and a head that stops stealing", 3,
	  1, 3, 300, 16, init_impatient_leaving, fair_and_steal, finish },
	{ "qspinlock_steal", "head_stops", "none waits for a stopped head", 3,
	  2, 2, 300, 16, init_head_stopped, steal, finish_stopped },
	{ "qspinlock_steal", "pending_stops",
	  "none waits for a stopped pending waiter", 3, 1, 1, 300, 16,
	  init_pending_stopped, mode_fair, finish_stopped },
	{ "qspinlock_steal", "holder_stops_fair",
	  "none waits in a queue for a stopped holder", 3, 1, 3, 300, 0,
	  init_queue, leave_holder_fair, finish_some },
	{ "qspinlock_steal", "holder_stops", "the same, in mode steal", 3, 1, 3,
	  300, 0, init_queue, leave_holder_steal, finish_some },
	{ "qspinlock_pv", "leave", "waiters leave a queue in their sleep", 3, 1,
	  2, 300, 16, init_halting_leaving, pv, finish },
	{ "qspinlock_pv", "head_stops", "none waits for a stopped head", 3, 1,
	  2, 300, 16, init_head_stopped_halting, pv, finish_stopped },
	{ "qspinlock_pv", "holder_stops", "none waits for a stopped holder", 3,
	  1, 2, 300, 0, init_queue_halting, leave_holder_pv, finish_some },
	{ "qspinlock_steal", "leave_pending",
	  "a head that stops stealing leaves", 3, 2, 2, 300, 0,
	  init_queue_impatient, leave_or_not_steal, finish_some },
	{ "qspinlock_pv", "leave_queue", "waiters leave another lock's queue",
	  3, 1, 2, 300, 0, init_queue_halting, leave_or_not_pv, finish_some },
	{ "qspinlock_pv", "leave_early", "the same, and they wake early", 3, 1,
	  2, 300, 0, init_queue_spurious, leave_or_not_pv, finish_some },
	{ "qspinlock_auto", "head_stops", "none waits for a stopped head", 3, 1,
	  1, 300, 16, init_head_stopped, automatic, finish_stopped },
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
	  "smp_cond_load_acquire_or_stall", "&node->state", "no_wait" },
	{ "tail exchanged in two steps", "qspinlock.I", NULL, NULL, "split" },
	{ "successor never made head", "make_head", "smp_store_release",
	  "&next->state", "drop" },
	{ "sleeping successor never made head", "let_sleep", "WRITE_ONCE",
	  "next->state", "drop" },
	{ "head takes without storing", "head_take", "WRITE_ONCE",
	  "lock->locked", "drop" },
	{ "arrival steals what is not free", "qspinlock.C", NULL, NULL,
	  "force" },
	{ "unlock overwrites what came since", "qspinlock.S", NULL, NULL,
	  "force" },
	{ "the kicked one is not woken", "kick", "kick_value", NULL, "drop" },
	{ "one that left is made head", "make_head", "try_cmpxchg_release",
	  "&next->state", "force" },
	{ "one that left in its sleep is made head", "let_sleep",
	  "try_cmpxchg_relaxed", "&next->state", "force" },
	{ "the head leaves as if it was not", "leave", "try_cmpxchg_relaxed",
	  "&node->state", "force" },
	{ "queue emptied though one arrived", "behind", "try_cmpxchg_relaxed",
	  "&lock->tail", "force" },
	{ "pending waiter that leaves stays", "wait_as_pending",
	  "atomic_andnot", "&lock->val", "drop" },
	{ "head that leaves still stops the stealers", "head_take",
	  "atomic_andnot", "&lock->val", "drop" },
	{ "a queued waiter stays", "wait_in_queue",
	  "smp_cond_load_acquire_or_stall", "&node->state", "drop" },
	{ "a pending waiter stays", "wait_as_pending",
	  "smp_cond_load_acquire_or_stall", "&lock->locked", "drop" },
	{ "a head stays", "head_wait", "atomic_cond_read_acquire_or_stall",
	  "&lock->val", "drop" },
	{ "one past the queue stays", "wait_tas",
	  "smp_cond_load_relaxed_or_stall", NULL, "drop" },
	{ "one without a node stays", "wait_without_node",
	  "atomic_cond_read_relaxed_or_stall", NULL, "drop" },
	{ "one in mode auto stays", "wait_in_queue", "should_leave", NULL,
	  "drop" },
	{ "one asleep stays", "wait_halting", "should_leave", NULL, "drop" },
	{ "a head asleep stays", "head_wait", "should_leave", NULL, "drop" },
	{ 0 },
};
