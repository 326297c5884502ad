// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "readers.h"
#include "rwsem_list.h"
#include "trial.h"

static struct lk_rwsem lock;
static u32 users;

/* How long each thread spins before it sleeps, in rounds. */
static void spin(u32 rounds)
{
	u32 i;

	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = rounds;
}

/*
 * Time stands still: nobody but an unlock wakes a sleeper. Without a slot nobody
 * queues to spin. Threads also wait for the lock of the list.
 */
static void init_contended(void)
{
	spin(0);
	check_world.no_slots = true;
	check_world.no_time = true;
	check_world.handover_spins = 0;
}

/* A thread begins a section of the list when no other is in one. */
static void init(void)
{
	init_contended();
	check_world.sections_exclude = true;
}

/* An unlock watches for a moment whether somebody takes the lock. */
static void init_watched(void)
{
	init();
	check_world.handover_spins = 1;
}

static void write(void)
{
	EACH_ACQUISITION(lk_rwsem_lock(&lock); write_section();
			 lk_rwsem_unlock(&lock));
}

static void read_as(enum lk_rwsem_reader how)
{
	EACH_ACQUISITION(
		if (!lk_rwsem_read_trylock(&lock, how))
			lk_rwsem_read_lock_slow(&lock, how, NULL, NULL);
		read_section(); lk_rwsem_read_unlock(&lock));
}

static void read(void)
{
	read_as(LK_READER_PASSES);
}

/* Readers that let writers first, and one that does not. */
static void writers_first(u32 id)
{
	if (id == 0)
		write();
	else
		read_as(id % 2 ? LK_READER_QUEUES : LK_READER_NESTS);
}

/* Thread 0 locks, the others only try: odd ones to write, even ones to read. As users do. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(
		if (id == 0) {
			lk_rwsem_lock(&lock);
			write_section();
			lk_rwsem_unlock(&lock);
		} else if (id % 2 && lk_rwsem_try_write(&lock)) {
			write_section();
			lk_rwsem_unlock(&lock);
		} else if (id % 2 == 0 &&
			   lk_rwsem_try_read(&lock, LK_READER_PASSES)) {
			read_section();
			lk_rwsem_read_unlock(&lock);
		});
}

static void init_spinning(void)
{
	init();
	spin(1);
	check_world.no_slots = false;
}

/* enum lk_way, plus 1 */
static void init_sleeping(void)
{
	init_spinning();
	check_world.wait_way = 1 + LK_WAY_SLEEP;
}

static void init_brief(void)
{
	init_spinning();
	check_world.rwsem_looks = 1;
}

static struct lkp_deadline soon;

/*
 * The others spin until they hold. Thread 1 leaves the queue of spinners at its first look
 * there. Then it sleeps, and may run out of time.
 */
static void init_cut_off(void)
{
	deadline_after(&soon, 1);
	init_spinning();
	spin(UINT32_MAX);
	check_world.spin_budget[1] = 0;
	check_world.soon = true;
}

static void cut_off(u32 id)
{
	if (id != 1)
		write();
	else
		EACH_ACQUISITION(
			if (lk_rwsem_lock_slow(&lock, &soon, NULL)) continue;
			write_section(); lk_rwsem_unlock(&lock));
}

static void init_one_cpu(void)
{
	init_spinning();
	check_world.one_cpu = true;
}

/* A sleeper that has lost once is promised the lock. */
static void init_handoff(void)
{
	init();
	check_world.overtake_limit = 1;
	check_world.spurious = 1;
}

/* The first on the list may lose its patience whenever it sleeps. */
static void init_impatient(void)
{
	init();
	check_world.no_time = false;
}

static void init_spurious(void)
{
	init();
	check_world.spurious = 1;
}

/* Own deadlines, which are always nearer than the end of any patience. */
static void init_timed(void)
{
	deadline_after(&soon, 1);
	init();
	check_world.soon = true;
}

/* Odd threads may run out of time, and leave the list where they stand. */
static void lock_or_time_out(u32 id)
{
	if (id % 2)
		EACH_ACQUISITION(
			if (lk_rwsem_lock_slow(&lock, &soon, NULL)) continue;
			write_section(); lk_rwsem_unlock(&lock));
	else if (id)
		write();
	else
		read();
}

/* The same, and who runs out of time reads. */
static void read_or_time_out(u32 id)
{
	if (id % 2)
		EACH_ACQUISITION(
			if (lk_rwsem_read_lock_slow(&lock, LK_READER_PASSES,
						    &soon, NULL)) continue;
			read_section(); lk_rwsem_read_unlock(&lock));
	else
		write();
}

/* Thread 0 goes on as a reader; the others read or write. */
static void downgrade(u32 id)
{
	if (id == 1) {
		read();
	} else if (id) {
		write();
	} else {
		EACH_ACQUISITION(lk_rwsem_lock(&lock); write_section();
				 lk_rwsem_downgrade(&lock); read_section();
				 lk_rwsem_read_unlock(&lock));
	}
}

/* As POSIX has it: who gets the lock last may free it at once. */
static void init_freed(void)
{
	init();
	users = check_threads;
}

static void use_and_free(u32 id)
{
	bool last;

	if (id == 1) {
		lk_rwsem_read_lock(&lock);
		lk_rwsem_read_unlock(&lock);
	}
	lk_rwsem_lock(&lock);
	last = --users == 0;
	lk_rwsem_unlock(&lock);
	if (last)
		lock = (struct lk_rwsem)LK_RWSEM_INIT;
}

/* A signal handler that uses the lock interrupts each list section. */
static void handler(void)
{
	if (lk_rwsem_trylock(&lock)) {
		write_section();
		lk_rwsem_unlock(&lock);
	}
	if (lk_rwsem_read_trylock(&lock, LK_READER_NESTS)) {
		read_section();
		lk_rwsem_read_unlock(&lock);
	}
	lk_rwsem_check_epoch(&lock); /* as a try that fails does */
}

static void init_signal(void)
{
	init_contended();
	check_world.signal = handler;
}

/* After a fork: list, queue and list lock name threads that are gone. */
static void init_forked(void)
{
	init_contended();
	check_world.epoch = 1;
	atomic_set(&lock.word,
		   LK_RWSEM_QUEUED | LK_RWSEM_HANDOFF | LK_RWSEM_LOOK);
	lock.first = (struct lk_ring *)8;
	lock.wait_lock.locked = 1;
	atomic_set(&lock.osq.tail, 99);
}

static void write_in_handler(void)
{
	if (lk_rwsem_trylock(&lock)) {
		write_section();
		lk_rwsem_unlock(&lock);
	} else {
		lk_rwsem_check_epoch(&lock);
	}
}

/* The handler comes while the gone are being forgotten, too. */
static void init_forked_signal(void)
{
	init_forked();
	check_world.signal = write_in_handler;
	check_world.signal_stores = true;
}

/*
 * Thread 0 looks at the list of a lock. Its handler unlocks a second lock that it holds.
 * Thread 1 sleeps for the second, and its handlers look at the first. So each handler may
 * find that the list it needs is locked by a thread that is in a handler as well.
 */
static struct lk_rwsem second;

static void handler_of_two(void)
{
	static u32 times[CHECK_THREADS];
	u32 id = lwc_thread(), time = times[id]++;

	if (!id && time == 1) /* with its list locked */
		lk_rwsem_unlock(&second);
	else if (id && time < 4)
		lk_rwsem_look(&lock);
}

static void init_signal_two(void)
{
	init_contended();
	lk_rwsem_lock(&second);
	check_world.signal = handler_of_two;
	check_world.signal_stores = true;
}

static void use_two(u32 id)
{
	if (!id) {
		lk_rwsem_look(&lock);
		return;
	}
	lk_rwsem_sleep(&second, NULL);
	write_section();
	lk_rwsem_unlock(&second);
}

static void finish_two(void)
{
	check_sections();
	CHECK(lk_rwsem_trylock(&second) && !second.first,
	      "somebody is left at the end");
	CHECK(!lock.wait_lock.locked && !second.wait_lock.locked,
	      "a list is locked at the end");
}

static void init_held(void)
{
	init();
	lk_rwsem_lock(&lock);
}

static void init_held_signal(void)
{
	init_contended();
	lk_rwsem_lock(&lock);
	check_world.signal = write_in_handler;
}

/*
 * Thread 1 has freed the lock, and has not yet woken the sleeper: then a handler takes
 * the lock, and leaves the sleeper to thread 2, whose section it interrupts.
 */
static void unlock_between(u32 id)
{
	if (id == 2) {
		lk_rwsem_look(&lock);
		return;
	}
	if (id == 0) {
		lk_rwsem_sleep(&lock, NULL);
		write_section();
	}
	lk_rwsem_unlock(&lock);
}

/* A later sleeper comes before an earlier one that may be awake. */
static void init_priority(void)
{
	init();
	rising_priorities();
}

/* The first may lose its patience, also when a later one has come before it. */
static void init_priority_impatient(void)
{
	init_priority();
	check_world.no_time = false;
}

static void arrive_in_order(u32 id)
{
	bool behind;

	if (id > 0) {
		behind = id == 2 && lk_rwsem_ops.last_waiter(&lock);
		lk_rwsem_sleep(&lock, NULL);
		served_after(behind ? 1 : NOBODY);
	}
	lk_rwsem_unlock(&lock);
}

/* Thread 0 reads. Thread 2 passes no sleeper. */
static void init_read(void)
{
	init();
	lk_rwsem_read_lock(&lock);
}

static void queue_in_order(u32 id)
{
	bool behind;

	if (id == 1) {
		lk_rwsem_sleep(&lock, NULL);
		served_after(NOBODY);
		lk_rwsem_unlock(&lock);
		return;
	}
	if (id == 2) {
		behind = lk_rwsem_ops.last_waiter(&lock);
		if (!lk_rwsem_read_trylock(&lock, LK_READER_QUEUES))
			lk_rwsem_read_lock_slow(&lock, LK_READER_QUEUES, NULL,
						NULL);
		served_after(behind ? 1 : NOBODY);
	}
	lk_rwsem_read_unlock(&lock);
}

/* Held, and the first on the list may lose its patience. */
static void init_held_impatient(void)
{
	init_held();
	check_world.no_time = false;
}

/* Thread 0 waits until the lock is promised, and then comes after the first. */
static void wait_for_promise(u32 id)
{
	if (id == 1) {
		lk_rwsem_sleep(&lock, NULL);
		served_after(NOBODY);
	} else {
		atomic_cond_read_relaxed(&lock.word, VAL & LK_RWSEM_HANDOFF);
		lk_rwsem_unlock(&lock);
		lk_rwsem_lock(&lock);
		served_after(1);
	}
	lk_rwsem_unlock(&lock);
}

/* Thread 2 tries while the lock is promised to the first, also when it is free. */
static void try_beside_promise(u32 id)
{
	if (id == 0) {
		lk_rwsem_unlock(&lock);
	} else if (id == 1) {
		lk_rwsem_sleep(&lock, NULL);
		write_section();
		lk_rwsem_unlock(&lock);
	} else if (lk_rwsem_try_read(&lock, LK_READER_PASSES)) {
		read_section();
		lk_rwsem_read_unlock(&lock);
	} else if (lk_rwsem_try_write(&lock)) {
		write_section();
		lk_rwsem_unlock(&lock);
	}
}

/*
 * Thread 1 reads until thread 2, if it sleeps, has lost its patience: also where it
 * became the first on the list by thread 1's leaving it.
 */
static void write_behind(u32 id, u32 readers)
{
	if (id == 0) {
		lk_rwsem_unlock(&lock);
	} else if (id <= readers) {
		lk_rwsem_read_lock(&lock);
		atomic_cond_read_relaxed(&lock.word,
					 (VAL & LK_RWSEM_HANDOFF) ||
						 !(VAL & LK_RWSEM_QUEUED));
		lk_rwsem_read_unlock(&lock);
	} else {
		lk_rwsem_sleep(&lock, NULL);
		lk_rwsem_unlock(&lock);
	}
}

static void wait_behind_reader(u32 id)
{
	write_behind(id, 1);
}

/* One thread grants one reader, which grants the next. The writer may come behind both. */
static void init_batch(void)
{
	init_held_impatient();
	check_world.rwsem_batch = 1;
}

static void wait_behind_two(u32 id)
{
	write_behind(id, 2);
}

/* The same, and an arrival can pass a sleeper that was woken. */
static void init_held_passing(void)
{
	init_held_impatient();
	spin(1);
	check_world.rwsem_looks = 1;
}

/*
 * Thread 2 passes the writer that it has woken, writes, and reads: until the writer
 * gives its hand-off up, and lets the reader behind it in.
 */
static void hand_off_in_vain(u32 id)
{
	if (id == 0) {
		write();
	} else if (id == 1) {
		read();
	} else {
		write_section();
		lk_rwsem_unlock(&lock);
		write();
		read();
	}
}

/* The first sleeper is woken, is passed, and then runs out of time. */
static void init_held_late(void)
{
	deadline_after(&soon, 1);
	init_held();
	spin(1);
	check_world.rwsem_looks = 1;
	check_world.soon = true;
}

static u32 left;

/*
 * Thread 2 wakes the writer, passes it, writes, and reads until that one has left. So
 * the writer, which has not held since, lets the reader behind it in.
 */
static void leave_late(u32 id)
{
	if (id == 0) {
		if (!lk_rwsem_lock_slow(&lock, &soon, NULL)) {
			write_section();
			lk_rwsem_unlock(&lock);
		}
		WRITE_ONCE(left, 1);
	} else if (id == 1) {
		read();
	} else {
		write_section();
		lk_rwsem_unlock(&lock);
		write();
		lk_rwsem_read_lock(&lock);
		read_section();
		smp_cond_load_relaxed(&left, VAL);
		lk_rwsem_read_unlock(&lock);
	}
}

/*
 * Thread 1 is the first on the list, and stopped there. Its call is cut off later: thread 2
 * has read, or at any time. The lock is promised to it.
 */
static struct lk_rwsem_waiter stopped;

static void stop_first(u32 gain)
{
	stopped = (struct lk_rwsem_waiter){ .want.gain = gain,
					    .timed = true,
					    .due = local_clock() };
	lk_rwsem_enqueue(&lock, &stopped);
	atomic_or(LK_RWSEM_HANDOFF | LK_RWSEM_LOOK, &lock.word);
}

static void be_cut_off(void)
{
	CHECK(lk_rwsem_abandon(&lock, &stopped), "it cannot leave");
}

/* The promise should have ended, so thread 2 may read beside thread 0. */
static void init_overdue(void)
{
	init();
	check_world.naps = true;
	check_world.rwsem_drain_us = 0;
	lk_rwsem_read_lock(&lock);
	stop_first(LK_RWSEM_WRITER);
}

static void read_past_stopped(u32 id)
{
	if (id == 2) {
		lk_rwsem_read_lock(&lock);
		WRITE_ONCE(left, 1);
	} else {
		smp_cond_load_relaxed(&left, VAL);
	}
	if (id == 1)
		be_cut_off();
	else
		lk_rwsem_read_unlock(&lock);
}

static void init_abandoned(void)
{
	init_read();
	stop_first(LK_RWSEM_WRITER);
}

static void leave_to_writer(u32 id)
{
	if (id == 1)
		be_cut_off();
	else if (id == 2)
		write();
	else
		lk_rwsem_read_unlock(&lock);
}

/* It reads, and may have been granted the lock, and have to grant the next. */
static void init_abandoned_reader(void)
{
	init_held();
	check_world.rwsem_batch = 1;
	stop_first(LK_RWSEM_READER);
}

static void leave_to_reader(u32 id)
{
	if (id == 1)
		be_cut_off();
	else if (id == 2)
		read();
	else
		lk_rwsem_unlock(&lock);
}

/* Both readers are inside before either leaves: who wakes one wakes the other. */
static u32 together;

static void read_together(u32 id)
{
	if (id == 0) {
		lk_rwsem_unlock(&lock);
		return;
	}
	lk_rwsem_read_lock(&lock);
	(void)atomic_add_return_acquire(1, (atomic_t *)&together);
	atomic_cond_read_acquire((atomic_t *)&together,
				 (u32)VAL == check_threads - 1);
	lk_rwsem_read_unlock(&lock);
}

/* Each thread sets another way, for all of them. */
static void change_the_way(u32 id)
{
	WRITE_ONCE(check_world.wait_way, 1 + id % LK_WAYS);
	one_writer(id);
}

static void init_changing(void)
{
	init_spinning();
	check_world.wait_way = 1 + LK_WAY_SPIN;
	check_world.way_changes = true;
}

/* The last thread only changes the way, at any step of the others. */
static void be_changed(u32 id)
{
	if (id + 1 < check_threads) {
		one_writer(id);
		return;
	}
	WRITE_ONCE(check_world.wait_way, 1 + LK_WAY_SLEEP);
	WRITE_ONCE(check_world.wait_way, 1 + LK_WAY_SPIN);
	WRITE_ONCE(check_world.wait_way, 1 + LK_WAY_REST);
}

/* A sleeper may also run out of patience. */
static void init_on_trial(void)
{
	init();
	check_world.no_time = false;
	begin_trial(&lock, LK_RWSEM_WAYS);
}

/* The last thread ends the trial, at any step of the others. */
static void be_tried(u32 id)
{
	if (id + 1 < check_threads)
		one_writer(id);
	else
		end_trial(&lock, LK_RWSEM_WAYS);
}

/* A thread that begins to wait sleeps at once, if the first was told to look. */
static void init_turns(void)
{
	init();
	check_world.turns = CHECK_TURNS_END;
}

static void finish(void)
{
	check_sections();
	CHECK(lk_rwsem_trylock(&lock), "the lock is not free at the end");
	CHECK(atomic_read(&lock.word) == LK_RWSEM_WRITER,
	      "the lock has a stale bit at the end");
	CHECK(!lock.first, "somebody is on the list at the end");
	CHECK(atomic_read(&lock.osq.tail) == 0,
	      "somebody is queued at the end");
}

const struct check_client check_rwsem[] = {
	{ "rwsem", "writers", "one writer at a time", 3, 2, 2, 600, 16, init,
	  writers, finish },
	{ "rwsem", "one_writer", "no reader beside a writer", 3, 2, 1, 600, 16,
	  init, one_writer, finish },
	{ "rwsem", "one_reader", "no writer beside a reader", 3, 2, 2, 600, 16,
	  init, one_reader, finish },
	{ "rwsem", "pair", "a writer, a reader, four preemptions", 2, 2, 4, 600,
	  0, init, one_writer, finish },
	{ "rwsem", "contended", "threads wait for the lock of the list", 2, 2,
	  2, 600, 16, init_contended, one_writer, finish },
	{ "rwsem", "watched", "an unlock watches for the next holder", 3, 2, 2,
	  600, 16, init_watched, one_reader, finish },
	{ "rwsem", "kinds", "readers that queue, and that nest", 3, 1, 2, 600,
	  16, init, writers_first, finish },
	{ "rwsem", "try", "a try that fails changes nothing", 3, 2, 2, 600, 16,
	  init, lock_or_try, finish },
	{ "rwsem", "try_promised", "the same while the lock is promised", 3, 1,
	  3, 600, 3, init_held_impatient, try_beside_promise, finish },
	{ "rwsem", "try_forked", "the same after a fork", 3, 1, 2, 600, 16,
	  init_forked, lock_or_try, finish },
	{ "rwsem", "spinning", "one waiter spins, the others queue", 3, 1, 1,
	  600, 16, init_spinning, one_writer, finish },
	{ "rwsem", "sleeping", "no waiter spins", 3, 1, 2, 600, 16,
	  init_sleeping, one_writer, finish },
	{ "rwsem", "changing", "the way to wait changes while threads wait", 3,
	  1, 2, 600, 16, init_spinning, change_the_way, finish },
	{ "rwsem", "changed", "another thread changes the way at any step", 3,
	  2, 2, 600, 16, init_changing, be_changed, finish },
	{ "rwsem", "on_trial", "sleepers look how a way does that is on trial",
	  3, 1, 1, 600, 16, init_on_trial, one_writer, finish },
	{ "rwsem", "trial_ends", "another thread ends the trial at any step", 3,
	  1, 1, 600, 16, init_on_trial, be_tried, finish },
	{ "rwsem", "turns", "an arriving thread lets the first look", 3, 2, 2,
	  600, 16, init_turns, one_reader, finish },
	{ "rwsem", "brief", "an arriving thread checks before it queues", 3, 1,
	  2, 600, 16, init_brief, one_reader, finish },
	{ "rwsem", "one_cpu", "the owner has lost its CPU", 3, 1, 2, 600, 16,
	  init_one_cpu, one_reader, finish },
	{ "rwsem", "cut_off", "a spinner leaves the queue", 3, 1, 1, 600, 16,
	  init_cut_off, cut_off, finish },
	{ "rwsem", "cut_off_between", "the same between two others", 4, 1, 1,
	  600, 0, init_cut_off, cut_off, finish },
	{ "rwsem", "handoff", "the lock is promised to a sleeper", 3, 2, 2, 600,
	  16, init_handoff, writers, finish },
	{ "rwsem", "handoff_reader", "the same, with a reader", 3, 2, 2, 600,
	  16, init_handoff, one_reader, finish },
	{ "rwsem", "impatient", "the patience of the first ends", 3, 2, 2, 600,
	  16, init_impatient, one_reader, finish },
	{ "rwsem", "impatient_writer", "the same, as readers pass it", 3, 1, 2,
	  600, 16, init_impatient, one_writer, finish },
	{ "rwsem", "spurious", "sleeps that end early", 3, 1, 2, 600, 16,
	  init_spurious, one_writer, finish },
	{ "rwsem", "timed", "a writer that leaves does not consume a wake-up",
	  3, 2, 2, 600, 16, init_timed, lock_or_time_out, finish },
	{ "rwsem", "timed_reader", "the same, with a reader", 3, 1, 2, 600, 16,
	  init_timed, read_or_time_out, finish },
	{ "rwsem", "downgrade", "a writer goes on as a reader", 3, 1, 2, 600,
	  16, init, downgrade, finish },
	{ "rwsem", "freed", "freed by the last holder", 3, 1, 2, 600, 16,
	  init_freed, use_and_free, NULL },
	{ "rwsem", "signal", "a handler interrupts the list", 2, 2, 1, 600, 16,
	  init_signal, one_writer, finish },
	{ "rwsem", "signal_two", "handlers, each in a list of another lock", 2,
	  1, 2, 600, 2, init_signal_two, use_two, finish_two },
	{ "rwsem", "signal_passes", "a handler passes the sleeper to be woken",
	  3, 1, 1, 600, 3, init_held_signal, unlock_between, finish },
	{ "rwsem", "fork", "waiters lost in a fork are forgotten", 2, 1, 2, 600,
	  16, init_forked, one_writer, finish },
	{ "rwsem", "fork_signal", "the same, and a handler interrupts it", 2, 1,
	  1, 600, 16, init_forked_signal, one_writer, finish },
	{ "rwsem", "fifo", "sleepers are served in order", 3, 1, 3, 600, 3,
	  init_held, arrive_in_order, finish },
	{ "rwsem", "priority", "a sleeper that comes before earlier ones", 3, 2,
	  2, 600, 3, init_priority, one_reader, finish },
	{ "rwsem", "priority_impatient",
	  "the same while the patience of the first ends", 3, 2, 2, 600, 3,
	  init_priority_impatient, one_reader, finish },
	{ "rwsem", "queues", "a reader that queues passes no sleeper", 3, 1, 3,
	  600, 3, init_read, queue_in_order, finish },
	{ "rwsem", "promise", "arrivals come after a hand-off", 2, 1, 5, 600, 2,
	  init_held_impatient, wait_for_promise, finish },
	{ "rwsem", "new_first", "the patience of a new first begins", 3, 1, 3,
	  600, 3, init_held_impatient, wait_behind_reader, finish },
	{ "rwsem", "batch", "the same behind readers that grant each other", 4,
	  1, 1, 600, 4, init_batch, wait_behind_two, finish },
	{ "rwsem", "vain", "a hand-off that readers delay", 3, 1, 1, 600, 3,
	  init_held_passing, hand_off_in_vain, finish },
	{ "rwsem", "late",
	  "a sleeper that was passed leaves, and lets readers in", 3, 1, 1, 600,
	  3, init_held_late, leave_late, finish },
	{ "rwsem", "overdue",
	  "a promise to a stopped one, which should be over", 3, 1, 2, 600, 3,
	  init_overdue, read_past_stopped, finish },
	{ "rwsem", "abandoned", "one to which it is promised is cut off", 3, 1,
	  2, 600, 3, init_abandoned, leave_to_writer, finish },
	{ "rwsem", "abandoned_reader", "one that may hold already is cut off",
	  3, 1, 2, 600, 3, init_abandoned_reader, leave_to_reader, finish },
	{ "rwsem", "together", "readers on the list hold together", 3, 1, 2,
	  600, 3, init_held, read_together, finish },
	{ 0 },
};

const struct check_mutant mutants_rwsem[] = {
	{ "a handler waits for the list of another", "lock_to_look",
	  "in_any_section", NULL, "drop" },
	{ "sleeper does not say that it queued", "lk_rwsem_enqueue",
	  "atomic_or", NULL, "drop" },
	{ "sleeper never woken", "lk_rwsem_unlock_and_wake", "wake_value", NULL,
	  "drop" },
	{ "reader never granted", "lk_rwsem_grant_readers", "WRITE_ONCE",
	  "w->state", "drop" },
	{ "who leaves keeps its marks", "leave_timed_out",
	  "atomic_try_cmpxchg_relaxed", NULL, "drop" },
	{ "sleeper does not ask to be looked after", "lk_rwsem_sleep_as",
	  "atomic_or", NULL, "drop" },
	{ "hand-off never promised", "insist", "atomic_or", NULL, "drop" },
	{ "writer's try is not atomic", "lk_rwsem_lock_if",
	  "atomic_try_cmpxchg_acquire", NULL, "split" },
	{ "sleeper's try is not atomic", "take_and_leave",
	  "atomic_try_cmpxchg_acquire", NULL, "split" },
	{ "reader is not counted", "lk_rwsem_read_trylock",
	  "atomic_try_cmpxchg_acquire", NULL, "drop" },
	{ "no promise is ever overdue", "is_overdue", "local_clock", NULL,
	  "drop" },
	{ "granted readers are not counted", "lk_rwsem_grant_readers",
	  "atomic_try_cmpxchg_acquire", NULL, "force" },
	{ 0 },
};
