// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The queues, how they divide and join, and how to leave them. */
#include "events.h"
#include "numa.h"

static struct lk_numa_osq osq, other;
static atomic_t left;

static void lock_if_possible(void)
{
	begin_waiting();
	if (!lk_numa_osq_lock(&osq))
		return;
	critical_section();
	lk_numa_osq_unlock(&osq);
}

static void lock_some(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lock_if_possible());
}

/* Thread 0 held already. */
static void unlock_first(u32 id)
{
	if (id == 0) {
		critical_section();
		lk_numa_osq_unlock(&osq);
		return;
	}
	lock_some(id);
}

static void lock_other(void)
{
	begin_waiting();
	if (lk_numa_osq_lock(&other))
		lk_numa_osq_unlock(&other);
}

/* Thread 0 holds the other queue: in this one it has its second node. */
static void init_nested(void)
{
	make_hasty();
	check_world.spin_budget[0] = UINT32_MAX;
	CHECK(lk_numa_osq_lock(&other), "a free lock was not taken");
}

static void lock_nested(u32 id)
{
	lock_if_possible();
	if (id)
		lock_other();
	else
		lk_numa_osq_unlock(&other);
}

/* Thread 0 holds this one: in the other queue it has its second node. */
static void lock_other_nested(u32 id)
{
	lock_other();
	if (id) {
		lock_if_possible();
		return;
	}
	critical_section();
	lk_numa_osq_unlock(&osq);
}

static void finish(void)
{
	check_sections();
	CHECK(osq.tail == 0 && other.tail == 0,
	      "a queue is not empty at the end");
	CHECK(divided() == 0, "divided, and nobody is there");
}

static void init_no_slots(void)
{
	check_world.no_slots = true;
}

/* -- divided ------------------------------------------------------------- */

static void init_switching(void)
{
	check_world.clusters = 2;
	divide_at_once();
}

static void init_switching_impatient(void)
{
	init_switching();
	make_impatient();
}

static void init_divided(void)
{
	hold_divided(&osq, 2);
}

static void init_divided_impatient(void)
{
	init_divided();
	make_impatient();
}

static void init_divided_hasty(void)
{
	init_divided();
	make_hasty();
}

static void init_divided_nested(void)
{
	init_divided_hasty();
	check_world.spin_budget[0] = UINT32_MAX;
}

/* Others queue where thread 0 does not. */
static void init_against_one(void)
{
	hold_against_one(&osq);
}

static void init_against_one_impatient(void)
{
	init_against_one();
	make_impatient();
}

/* The first hand-over to a cluster brings nothing. */
static void init_poor(void)
{
	init_against_one();
	lk_knob_osq_keep_times = 0;
}

/* Each hand-over is to another cluster, if one waits. */
static void init_turns(void)
{
	init_divided();
	lk_knob_osq_node_max = 0;
}

/* Nobody else waits: what the cluster does for itself is no merit. */
static u32 alone;

static void init_alone(void)
{
	init_against_one();
	lk_knob_osq_keep_times = 1;
	lk_knob_osq_node_max = 1;
}

static void lock_alone(u32 id)
{
	if (id == 0) {
		lk_numa_osq_unlock(&osq);
		return;
	}
	EACH_ACQUISITION(begin_waiting(); if (!lk_numa_osq_lock(&osq)) continue;
			 critical_section(); alone += READ_ONCE(osq.state) & 1;
			 CHECK(alone <= 3, "divided for one cluster");
			 lk_numa_osq_unlock(&osq));
}

/* What happened before the lock began to join, which decides how it went. */
static atomic_t locals, remotes, joining;

static void note(u32 event)
{
	if (event == LK_EV_numa_closed_idle || event == LK_EV_numa_closed_poor)
		atomic_set(&joining, 1);
	if (atomic_read(&joining))
		return;
	if (event == LK_EV_numa_local)
		atomic_add(1, &locals);
	if (event == LK_EV_numa_remote)
		atomic_add(1, &remotes);
	/* What had queued before hands over once; all others, out of merit. */
	CHECK(atomic_read(&remotes) <= atomic_read(&locals) + 1 +
					       2 * (int)lk_knob_osq_keep_times,
	      "divided though it brings nothing");
}

/*
 * Merit is at its limit, and the division proved, by the first hand-over inside
 * a cluster. The lock was divided in vain three times before.
 */
static void init_proved(void)
{
	init_against_one();
	osq.state |= 3 << 1;
	lk_knob_osq_keep_times = 2047;
	check_world.at_event = note;
}

static void finish_proved(void)
{
	finish();
	CHECK(osq.state >> 1 == (atomic_read(&locals) ? 0 : 4),
	      "caution is not what the division brought");
}

/* Clusters take turns, with a merit of two. */
static void init_spent(void)
{
	init_turns();
	lk_knob_osq_keep_times = 1;
	check_world.at_event = note;
}

/*
 * The last cluster leaves the top while thread 0 is about to give it up; the
 * other thread then comes and goes, and comes again when the lock has joined.
 */
static void init_top_empties(void)
{
	init_divided();
	check_world.spin_budget[1] = 0;
}

static void top_empties(u32 id)
{
	lwc_begin_anew();
	if (id == 0) {
		lk_numa_osq_unlock(&osq);
		atomic_add(1, &left);
		return;
	}
	lock_if_possible();
	if (id == 1)
		return;
	lwc_begin_anew();
	begin_waiting();
	if (!lk_numa_osq_lock(&osq))
		return; /* it is behind a gate that it has set itself */
	atomic_cond_read_relaxed(&left, VAL != 0);
	lk_numa_osq_unlock(&osq);
}

/* -- to leave, whatever the holder does ---------------------------------- */

/* Holds until all the others, or those that it waits for, have left. */
static void hold_until_left(u32 others)
{
	atomic_cond_read_relaxed(&left, (u32)VAL == others);
	lk_numa_osq_unlock(&osq);
}

static void come_and_leave(void)
{
	begin_waiting();
	if (lk_numa_osq_lock(&osq))
		lk_numa_osq_unlock(&osq);
	atomic_add(1, &left);
}

static void init_leave(void)
{
	make_hasty();
	CHECK(lk_numa_osq_lock(&osq), "a free lock was not taken");
}

static void leave(u32 id)
{
	if (id == 0) {
		hold_until_left(check_threads - 1);
		return;
	}
	begin_waiting();
	CHECK(!lk_numa_osq_lock(&osq), "granted by nobody");
	atomic_add(1, &left);
}

/* The thread before each has lost its CPU to it. */
static void init_leave_one_cpu(void)
{
	check_world.one_cpu = true;
	CHECK(lk_numa_osq_lock(&osq), "a free lock was not taken");
}

/* From the top, where nobody is behind in the cluster, and a cluster is. */
static void init_leave_divided(void)
{
	init_divided_hasty();
}

/* From the top, where somebody is, and then has the cluster's place. */
static void init_leave_top(void)
{
	init_against_one();
	make_hasty();
}

/*
 * Thread 0 passes the lock on to thread 1, which divides the queue, or begins
 * to join it, and holds until the others have left: from what is the rest then,
 * or from behind the gate.
 */
static void leave_second(u32 id)
{
	if (id == 0) {
		lk_numa_osq_unlock(&osq);
	} else if (id == 1) {
		begin_waiting();
		CHECK(lk_numa_osq_lock(&osq), "a patient thread gave up");
		hold_until_left(check_threads - 2);
	} else {
		come_and_leave();
	}
}

static void init_leave_rest(void)
{
	check_world.clusters = 2;
	CHECK(lk_numa_osq_lock(&osq), "a free lock was not taken");
	divide_at_once();
	make_hasty();
	check_world.spin_budget[1] = (u32)-1;
}

static void init_leave_gate(void)
{
	init_divided();
	lk_knob_dynamic_enable = 0;
	make_hasty();
	check_world.spin_budget[1] = (u32)-1;
}

/* Thread 0 is between the two steps by which a queue is divided. */
static void init_leave_turned_away(void)
{
	struct numa_entry *entry = lk_numa_claim(&osq, 0);

	make_hasty();
	entry->clusters = entry->of = 2;
	check_world.clusters = 2;
	osq.word = 1u << 16 | 0xffff;
}

/* The same, and nobody else wants the others' CPUs. */
static void init_give_up(void)
{
	u32 i;

	init_leave_turned_away();
	for (i = 0; i < check_threads; i++)
		check_world.spin_budget[i] = (u32)-1;
	check_world.osq_arrival_looks = 0;
}

static void leave_turned_away(u32 id)
{
	if (id == 0) {
		atomic_cond_read_relaxed(&left, (u32)VAL == check_threads - 1);
		WRITE_ONCE(osq.word, 0);
		lk_numa_put(lk_numa_pool);
		return;
	}
	leave(id);
}

/* -- signal handlers ----------------------------------------------------- */

/*
 * Thread 1, the head of its cluster, is about to leave the top queue when a handler
 * comes to the lock, and finds itself on a CPU of the cluster before it there. Were it
 * to queue, it would get the lock, and in its unlock wait for its own thread.
 */
static void handle_signal(u32 event)
{
	if (lwc_thread() != 1 || event != LK_EV_numa_cancel_top)
		return;
	check_world.clusters = 1;
	check_world.spin_budget[1] = 1;
	lock_if_possible();
	check_world.clusters = 2;
}

static void init_signal(void)
{
	init_divided();
	check_world.spin_budget[1] = 0;
	check_world.at_event = handle_signal;
}

const struct check_client check_numa_osq[] = {
	{ "numa_osq", "exclusion", "one holder at a time", 3, 2, 1, 900, 16,
	  NULL, lock_some, finish },
	{ "numa_osq", "cancel", "waiters leave the queue", 3, 1, 2, 900, 16,
	  make_impatient, lock_some, finish },
	{ "numa_osq", "no_slots", "threads without a node", 3, 2, 2, 900, 16,
	  init_no_slots, lock_some, finish },
	{ "numa_osq", "nested", "two nodes of a thread, in two queues", 3, 1, 2,
	  900, 16, init_nested, lock_nested, finish },
	{ "numa_osq", "divided", "the queue is divided and joined again", 3, 2,
	  2, 900, 16, init_divided, unlock_first, finish },
	{ "numa_osq", "divided_cancel", "waiters leave the clusters' queues", 3,
	  1, 2, 900, 16, init_divided_impatient, unlock_first, finish },
	{ "numa_osq", "divided_nested", "the same, two nodes of a thread", 3, 1,
	  2, 900, 16, init_divided_nested, lock_other_nested, finish },
	{ "numa_osq", "divided_cancel_twice",
	  "the same, two acquisitions by each", 3, 2, 1, 900, 16,
	  init_divided_impatient, unlock_first, finish },
	{ "numa_osq", "divided_hasty", "all waiters leave at the same time", 3,
	  1, 2, 900, 16, init_divided_hasty, unlock_first, finish },
	{ "numa_osq", "one_cluster", "hand-overs inside a cluster", 3, 1, 2,
	  900, 16, init_against_one, unlock_first, finish },
	{ "numa_osq", "one_cluster_cancel", "the same, and waiters leave", 3, 1,
	  2, 900, 16, init_against_one_impatient, unlock_first, finish },
	{ "numa_osq", "poor", "the queues join while threads wait", 3, 1, 2,
	  900, 16, init_poor, unlock_first, finish },
	{ "numa_osq", "turns", "clusters take turns", 3, 1, 2, 900, 16,
	  init_turns, unlock_first, finish },
	{ "numa_osq", "alone", "only one cluster has waiters", 3, 2, 2, 900, 0,
	  init_alone, lock_alone, finish },
	{ "numa_osq", "proved", "a division with many local hand-overs", 3, 1,
	  2, 900, 0, init_proved, unlock_first, finish_proved },
	{ "numa_osq", "spent", "a division with few local hand-overs", 3, 2, 1,
	  900, 0, init_spent, unlock_first, finish },
	{ "numa_osq", "top_empties", "no thread takes the top again", 3, 1, 2,
	  900, 0, init_top_empties, top_empties, finish },
	{ "numa_osq", "switching", "the queue is divided and joined each time",
	  3, 1, 1, 900, 16, init_switching, lock_some, finish },
	{ "numa_osq", "switching_pair", "the same, two threads", 2, 1, 3, 300,
	  0, init_switching, lock_some, finish },
	{ "numa_osq", "switching_cancel", "the same, and waiters leave", 3, 1,
	  1, 900, 16, init_switching_impatient, lock_some, finish },
	{ "numa_osq", "leave", "a waiter can leave whatever the holder does", 3,
	  1, 3, 900, 16, init_leave, leave, finish },
	{ "numa_osq", "leave_one_cpu", "the predecessor has lost its CPU", 3, 1,
	  2, 900, 16, init_leave_one_cpu, leave, finish },
	{ "numa_osq", "leave_divided", "the same, from a cluster and the top",
	  3, 1, 2, 900, 16, init_leave_divided, leave, finish },
	{ "numa_osq", "leave_top", "the same, and a successor takes its place",
	  3, 1, 2, 900, 16, init_leave_top, leave, finish },
	{ "numa_osq", "leave_rest", "the same, from the rest of the old queue",
	  3, 1, 2, 900, 16, init_leave_rest, leave_second, finish },
	{ "numa_osq", "leave_gate", "the same, from behind the gate", 3, 1, 2,
	  900, 16, init_leave_gate, leave_second, finish },
	{ "numa_osq", "leave_turned_away",
	  "the same, while no queue is open to it", 3, 1, 2, 900, 16,
	  init_leave_turned_away, leave_turned_away, finish },
	{ "numa_osq", "give_up", "the same, as that takes too long", 3, 1, 2,
	  900, 16, init_give_up, leave_turned_away, finish },
	{ "numa_osq", "signal", "a handler waits for the lock of its thread", 3,
	  1, 2, 900, 0, init_signal, unlock_first, finish },
	{ 0 },
};

const struct check_mutant mutants_numa_osq[] = {
	/* Lost start: a waiter that gives up takes the lock or the top with it. */
	{ "leaves though it was granted", "cq_begin_leaving",
	  "try_cmpxchg_relaxed", NULL, "force" },
	{ "passes it to one that leaves", "cancel_queue.C", NULL, NULL,
	  "force" },
	{ "neighbours not linked by a leaver", "cq_move_up", "WRITE_ONCE", NULL,
	  "drop" },
	{ "last one leaves, and stays linked", "cq_retire", "WRITE_ONCE", NULL,
	  "drop" },
	{ "empties a queue that has grown", "numa_queue.A", NULL, NULL,
	  "force" },
	{ "successor never told", "cancel_queue.C", NULL, NULL, "drop" },
	{ "tail exchanged in two steps", "numa_osq.B", NULL, NULL, "split" },
	{ "a cluster's last exchanged in two steps", "numa_osq.U", NULL, NULL,
	  "split" },
	{ "empties a cluster that has grown", "numa_queue.B", NULL, NULL,
	  "force" },
	{ "what was queued is not the rest", "move_to_rest", "WRITE_ONCE",
	  "numa_rest(entry)->word", "drop" },
	{ "the rest does not have the top", "prepare", "WRITE_ONCE",
	  "entry->tail", "drop" },
	{ "divides a queue that has grown", "numa_divide.J", NULL, NULL,
	  "force" },
	/* Waits that cannot be cancelled. */
	{ "a waiter in a queue stays", "wait_turn", "need_resched", NULL,
	  "drop" },
	{ "a waiter at the top stays", "lock_top", "need_resched", NULL,
	  "drop" },
	{ "one that cannot queue stays", "lock_with", "need_resched", NULL,
	  "drop" },
	/* No cluster, or one. */
	{ "divides where there are no clusters", "consider", "cluster_count",
	  NULL, "drop" },
	/* Two locks in one entry. */
	{ "owner compared by its lower half", "lock_in_cluster", "READ_ONCE",
	  "entry->owner", "narrow" },
	{ "two uses have one number", "prepare", "WRITE_ONCE", "entry->use",
	  "drop" },
	/* Divided for longer than there is a cause. */
	{ "idle, and the lock stays divided", "numa_divide.S", NULL, NULL,
	  "drop" },
	{ "queues stay open", "numa_divide.R", NULL, NULL, "drop" },
	{ "nobody passes the gate", "numa_divide.P", NULL, NULL, "drop" },
	{ "the gate is passed too early", "lk_numa_join", "atomic_set", NULL,
	  "drop" },
	{ "switched off, and passed on inside", "pass_inside", "knob",
	  "dynamic_enable", "drop" },
	{ "switched off, and passed on", "unlock_in_cluster", "knob",
	  "dynamic_enable", "drop" },
	{ 0 },
};
