// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "mutex.h"
#include "qspinlock.h"
#include "trial.h"

static struct lk_mutex lock;
static u32 users;

/* How long each thread spins before it sleeps, in rounds. */
static void spin(u32 rounds)
{
	u32 i;

	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = rounds;
}

static void init(void)
{
	spin(0);
}

static void init_spinning(void)
{
	spin(1);
}

/* An arrival looks at the word for itself before it queues. */
static void init_brief(void)
{
	spin(1);
	check_world.brief_spins = 1;
}

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_mutex_lock(&lock); critical_section();
			 lk_mutex_unlock(&lock));
}

/* Straight to the list of sleepers. */
static void sleep_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_mutex_sleep(&lock, NULL); critical_section();
			 lk_mutex_unlock(&lock));
}

static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) lk_mutex_lock(&lock);
			 else if (!lk_mutex_trylock(&lock)) continue;
			 critical_section(); lk_mutex_unlock(&lock));
}

/* As a condition variable does: puts @w on the list, or tells it. */
static void move(struct lk_mutex_waiter *w)
{
	if (lk_mutex_move(&lock, w, true))
		return;
	smp_store_release(&w->state, LK_SIGNALLED);
	wake_value(&w->state);
}

/* And what the moved one does. */
static void wait_moved(struct lk_mutex_waiter *w)
{
	u32 state;

	while ((state = smp_load_acquire(&w->state)) == LK_ASLEEP)
		wait_on_value(&w->state, LK_ASLEEP, NULL, NO_NAPS);
	if (state != LK_SIGNALLED) {
		lk_mutex_sleep_moved(&lock, w);
		return;
	}
	lk_mutex_lock(&lock);
	if (w->moved)
		lk_mutex_was_pulled(&lock);
}

/* Thread 0 puts thread 1 on the list, as a condition variable does. */
static void move_or_be_moved(u32 id)
{
	static struct lk_mutex_waiter sleeper;

	if (id == 0)
		move(&sleeper);
	if (id != 1) {
		lock_and_unlock(id);
		return;
	}
	wait_moved(&sleeper);
	critical_section();
	lk_mutex_unlock(&lock);
}

/* Thread 0 holds; thread 1 puts itself on the list in that way. */
static void be_moved_at_unlock(u32 id)
{
	static struct lk_mutex_waiter sleeper;

	if (id) {
		move(&sleeper);
		wait_moved(&sleeper);
	}
	critical_section();
	lk_mutex_unlock(&lock);
}

/* Odd threads may run out of time, and leave the list where they stand. */
static void lock_or_time_out(u32 id)
{
	struct lkp_deadline soon;

	deadline_after(&soon, 1);
	EACH_ACQUISITION(
		if (lk_mutex_sleep(&lock, id % 2 ? &soon : NULL)) continue;
		critical_section(); lk_mutex_unlock(&lock));
}

/*
 * The others spin until they hold. Thread 1 leaves the queue of spinners at its first look
 * there. Then it sleeps, and may run out of time.
 */
static void init_cut_off(void)
{
	spin(UINT32_MAX);
	check_world.spin_budget[1] = 0;
	check_world.sections_exclude = true;
}

static void cut_off(u32 id)
{
	struct lkp_deadline soon;

	if (id != 1) {
		lock_and_unlock(id);
		return;
	}
	deadline_after(&soon, 1);
	EACH_ACQUISITION(if (lk_mutex_lock_slow(&lock, &soon)) continue;
			 critical_section(); lk_mutex_unlock(&lock));
}

/* A sleeper that is passed over once gets the mutex handed. */
static void init_handoff(void)
{
	init();
	check_world.overtake_limit = 1;
}

/* As in the kernel, where a wake-up says that somebody slept, always. */
static void init_handoff_blind(void)
{
	init_handoff();
	check_world.wakes_blindly = true;
}

/*
 * Thread 1 sleeps, and its call is cut off at any time: also when it holds, because the mutex
 * was handed to it. Thread 0 holds at first. All are served by the others' unlocks.
 */
static struct lk_mutex_waiter cut;

static void init_abandoned(void)
{
	init_handoff();
	lk_mutex_lock(&lock);
	cut = (struct lk_mutex_waiter){ .state = LK_ASLEEP, .queued = true };
	lk_ring_insert(&lock.first, &cut.ring);
	lock.parked = 1;
	lock.word = LK_MUTEX_WANTED;
}

static void leave_to_others(u32 id)
{
	struct lkp_deadline soon;

	deadline_after(&soon, 1);
	if (id == 1) {
		(void)wait_on_value(&cut.state, LK_ASLEEP, &soon, NO_NAPS);
		CHECK(lk_mutex_abandon(&lock, &cut), "it cannot leave");
	} else {
		if (id == 2)
			lk_mutex_sleep(&lock, NULL);
		critical_section();
		lk_mutex_unlock(&lock);
	}
}

/* It is woken to compete before that. */
static void init_overtaken(void)
{
	init();
	check_world.overtake_limit = 2;
}

static void init_one_cpu(void)
{
	spin(1);
	check_world.one_cpu = true;
}

static void init_spurious(void)
{
	init();
	check_world.spurious = 1;
}

/* As POSIX has it: who gets the mutex last may free it at once. */
static void init_posix(void)
{
	init();
	check_world.posix = true;
	users = check_threads;
}

static void use_and_free(u32 id)
{
	bool last;

	(void)id;
	EACH_ACQUISITION(lk_mutex_lock(&lock); last = --users == 0;
			 lk_mutex_unlock(&lock);
			 if (last) lock = (struct lk_mutex)LK_MUTEX_INIT;
			 break);
}

/* Some threads run other code, which knows the word and nothing else. */
static void init_foreign(void)
{
	init();
	check_world.posix = true;
	check_world.foreign = true;
	check_world.naps = true;
}

static void foreign_lock(void)
{
	u32 word = 0;

	if (try_cmpxchg_acquire(&lock.word, &word, 1))
		return;
	while (xchg_acquire(&lock.word, 2))
		wait_on_value(&lock.word, 2, NULL, 0);
}

static void foreign_unlock(void)
{
	if (xchg(&lock.word, 0) == 2)
		wake_value(&lock.word);
}

/*
 * A foreign waiter, and ours that leave at their deadline. All unlocks are ours, so
 * nobody needs a nap.
 */
static void init_foreign_timed(void)
{
	init_foreign();
	check_world.naps = false;
}

static void foreign_and_timed(u32 id)
{
	if (id != 1) {
		lock_or_time_out(id + 1);
		return;
	}
	EACH_ACQUISITION(foreign_lock(); critical_section();
			 lk_mutex_unlock(&lock));
}

static void ours_and_foreign(u32 id)
{
	if (id != 1) {
		lock_and_unlock(id);
		return;
	}
	EACH_ACQUISITION(foreign_lock(); critical_section(); foreign_unlock());
}

/* A signal handler that uses the mutex interrupts each list section. */
static void handler(void)
{
	if (lk_mutex_trylock(&lock)) {
		critical_section();
		lk_mutex_unlock(&lock);
	}
}

static void init_signal(void)
{
	init();
	check_world.signal = handler;
}

static void init_signal_posix(void)
{
	init_signal();
	check_world.posix = true;
}

/* The handler's unlock finds that foreign code waits. */
static void init_signal_foreign(void)
{
	init_foreign();
	check_world.signal = handler;
}

/*
 * Thread 1's handler has the mutex until thread 2, the first sleeper, has asked for an
 * unlock that looks. Thread 0 takes what the handler has unlocked, and knows of it by
 * nothing that orders memory.
 */
static u32 handled, served_first;

static void hold_in_handler(void)
{
	if (lwc_thread() != 1 || READ_ONCE(handled))
		return;
	if (lk_mutex_trylock(&lock)) {
		critical_section();
		while (READ_ONCE(lock.word) == LK_MUTEX_HELD &&
		       !READ_ONCE(served_first))
			cpu_relax();
		lk_mutex_unlock(&lock);
	}
	WRITE_ONCE(handled, 1);
}

static void init_held_signal_posix(void)
{
	init_signal_posix();
	check_world.signal = hold_in_handler;
	lk_mutex_lock(&lock);
}

static void take_from_handler(u32 id)
{
	if (id) {
		sleep_and_unlock(id);
		if (id == 2)
			WRITE_ONCE(served_first, 1);
		return;
	}
	lk_mutex_unlock(&lock);
	while (!READ_ONCE(handled))
		cpu_relax();
	lock_and_unlock(id);
}

/*
 * Thread 0 looks at the list of a mutex. Its handler unlocks a second mutex that it holds.
 * Thread 1 looks at the list of that one, on which it has a sleeper, and its handlers look at
 * the first. So each handler may find that the list it needs is locked by a thread that is in
 * a handler as well.
 */
static struct lk_mutex second;
static struct lk_mutex_waiter moved;

static void handler_of_two(void)
{
	static u32 times[CHECK_THREADS];
	u32 id = lwc_thread(), time = times[id]++;

	if (!id && time == 1) /* with its list locked */
		lk_mutex_unlock(&second);
	else if (id && time < 3)
		lk_mutex_wake(&lock);
}

static void init_signal_two(void)
{
	init();
	lk_mutex_lock(&second);
	moved.state = LK_ASLEEP;
	lk_mutex_move(&second, &moved, true);
	check_world.signal = handler_of_two;
	check_world.signal_stores = true;
}

static void use_two(u32 id)
{
	if (!id) {
		lk_mutex_wake(&lock);
		return;
	}
	lk_mutex_wake(&second);
	lk_mutex_sleep_moved(&second, &moved);
	critical_section();
	lk_mutex_unlock(&second);
}

/* After a fork: list, queue and list lock name threads that are gone. */
static void init_forked(void)
{
	init();
	check_world.epoch = 1;
	lock.first = (struct lk_ring *)8;
	lock.wait_lock.locked = 1;
	lock.parked = 1;
	lock.passed = LK_MUTEX_PROMISED;
	atomic_set(&lock.osq.tail, 99);
}

/* The handler comes while the gone are being forgotten, too. */
static void init_forked_signal(void)
{
	init_forked();
	lock.passed = 0; /* else an unlock keeps the word to the end */
	check_world.signal = handler;
	check_world.signal_stores = true;
}

static void init_held(void)
{
	init();
	lk_mutex_lock(&lock);
}

/*
 * Thread 1 is first on the list, and in a signal handler until thread 2 has had the
 * mutex, after a nap.
 */
static void init_held_naps(void)
{
	init_held();
	check_world.naps = true;
}

/* And the first is promised the mutex meanwhile. */
static void init_promised_naps(void)
{
	init_held_naps();
	check_world.overtake_limit = 1;
}

static void pass_the_first(u32 id)
{
	static struct lk_mutex_waiter sleeper;
	static u32 over;

	if (id == 1) {
		move(&sleeper);
		while (!READ_ONCE(over))
			wait_on_value(&over, 0, NULL, NO_NAPS);
		wait_moved(&sleeper);
	} else if (id) {
		lk_mutex_sleep(&lock, NULL);
	}
	critical_section();
	lk_mutex_unlock(&lock);
	if (id == 2) {
		WRITE_ONCE(over, 1);
		wake_value(&over);
	} else if (id == 0) {
		lock_and_unlock(id); /* as somebody who saw no sleeper */
	}
}

static void arrive_in_order(u32 id)
{
	bool behind;

	if (id > 0) {
		behind = id == 2 && lk_mutex_ops.last_waiter(&lock);
		lk_mutex_sleep(&lock, NULL);
		served_after(behind ? 1 : NOBODY);
	}
	lk_mutex_unlock(&lock);
}

/* A later sleeper comes before an earlier one that may be awake. */
static void init_priority(void)
{
	init();
	rising_priorities();
}

/* The hand-off that one of them has waited for may go to the other. */
static void init_priority_handoff(void)
{
	init_priority();
	check_world.overtake_limit = 1;
}

/* No waiter spins. */
static void wait_in(enum lk_way way)
{
	spin(1);
	check_world.wait_way = 1 + way;
}

static void init_sleeping(void)
{
	wait_in(LK_WAY_SLEEP);
}

static void init_resting(void)
{
	wait_in(LK_WAY_REST);
}

static void init_resting_posix(void)
{
	init_resting();
	check_world.posix = true;
}

static void init_resting_foreign(void)
{
	init_foreign();
	init_resting();
}

static void init_resting_signal(void)
{
	init_resting();
	check_world.signal = handler;
}

/* A thread that begins to wait wakes the first sleeper. */
static void init_turns_go_on(void)
{
	init_spinning();
	check_world.turns = CHECK_TURNS_GO_ON;
}

static void init_turns_wake(void)
{
	init_turns_go_on();
	lk_mutex_lock(&lock);
}

/* Thread 0 holds until thread 1 sleeps, which thread 2 wakes if it comes meanwhile. */
static void arrive_at_a_sleeper(u32 id)
{
	if (id == 1)
		lk_mutex_sleep(&lock, NULL);
	else if (id)
		lk_mutex_lock(&lock);
	else
		while (!READ_ONCE(lock.parked))
			cpu_relax();
	critical_section();
	lk_mutex_unlock(&lock);
}

/* As init_turns_go_on(), and it sleeps. */
static void init_turns_end(void)
{
	init();
	check_world.turns = CHECK_TURNS_END;
}

/* Each thread sets another way, for all of them. */
static void change_the_way(u32 id)
{
	WRITE_ONCE(check_world.wait_way, 1 + id % LK_WAYS);
	lock_and_unlock(id);
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
		lock_and_unlock(id);
		return;
	}
	WRITE_ONCE(check_world.wait_way, 1 + LK_WAY_REST);
	WRITE_ONCE(check_world.wait_way, 1 + LK_WAY_SPIN);
	WRITE_ONCE(check_world.wait_way, 1 + LK_WAY_SLEEP);
}

static void init_on_trial(void)
{
	init();
	begin_trial(&lock, LK_WAYS);
}

/* The last thread ends the trial, at any step of the others. */
static void end_the_trial(u32 id)
{
	if (id + 1 < check_threads)
		lock_and_unlock(id);
	else
		end_trial(&lock, LK_WAYS);
}

static void finish(void)
{
	check_sections();
	CHECK(lk_mutex_trylock(&lock), "the lock is not free at the end");
	CHECK(!lock.first, "somebody is on the list at the end");
	CHECK(atomic_read(&lock.osq.tail) == 0,
	      "somebody is queued at the end");
}

/* The interposer's qspinlock policies: no waiter sleeps. Odd threads try in time. */
static void spin_and_unlock(u32 id)
{
	u32 stage = LK_SPIN_OUTSIDE;
	struct lkp_deadline deadline;

	deadline_after(&deadline, 1);
	EACH_ACQUISITION(if (!lk_mutex_trylock(&lock) &&
			     !lk_mutex_spin(&lock, id % 2 ? &deadline : NULL,
					    &lk_spin_over_qspin[LK_QSPIN_FAIR],
					    &stage)) continue;
			 critical_section(); lk_mutex_unlock(&lock));
}

/* A wait with a deadline ends. */
static void init_posix_spinning(void)
{
	spin(1);
	check_world.posix = true;
	check_world.soon = true;
}

/* Somebody holds the qspinlock, but is stopped and does not take the mutex. */
static void init_head_stopped(void)
{
	init_posix_spinning();
	leave_from(0);
	atomic_set(&lock.osq.tail, LK_Q_LOCKED);
}

static void spin_past_queue(u32 id)
{
	u32 stage = LK_SPIN_OUTSIDE;

	(void)id;
	EACH_ACQUISITION(if (!lk_mutex_trylock(&lock)) lk_mutex_spin(
				 &lock, NULL,
				 &lk_spin_over_qspin[LK_QSPIN_FAIR], &stage);
			 critical_section(); lk_mutex_unlock(&lock));
}

static void finish_two(void)
{
	check_sections();
	CHECK(lk_mutex_trylock(&second) && !second.first,
	      "somebody is left at the end");
	CHECK(!lock.wait_lock.locked && !second.wait_lock.locked,
	      "a list is locked at the end");
}

static void finish_stopped(void)
{
	check_sections();
	CHECK(lk_mutex_trylock(&lock), "the lock is not free at the end");
}

const struct check_client check_mutex[] = {
	{ "mutex", "exclusion", "one holder at a time", 3, 2, 2, 600, 16, init,
	  lock_and_unlock, finish },
	{ "mutex", "sleepers", "every sleeper is woken", 3, 2, 1, 600, 16, init,
	  sleep_and_unlock, finish },
	{ "mutex", "pair", "two threads, six preemptions", 2, 1, 6, 600, 0,
	  init, lock_and_unlock, finish },
	{ "mutex", "spinning", "one waiter spins, the others queue", 3, 1, 2,
	  600, 16, init_spinning, lock_and_unlock, finish },
	{ "mutex", "never_sleeps", "waiters spin in a qspinlock", 3, 1, 2, 600,
	  16, init_posix_spinning, spin_and_unlock, finish },
	{ "mutex", "brief", "an arriving thread checks before it queues", 3, 1,
	  1, 600, 16, init_brief, lock_and_unlock, finish },
	{ "mutex", "one_cpu", "the owner has lost its CPU", 3, 1, 1, 600, 16,
	  init_one_cpu, lock_and_unlock, finish },
	{ "mutex", "head_stops", "none waits in it for a stopped head", 3, 1, 2,
	  600, 16, init_head_stopped, spin_past_queue, finish_stopped },
	{ "mutex", "cut_off", "a spinner leaves the queue", 3, 1, 1, 600, 16,
	  init_cut_off, cut_off, finish },
	{ "mutex", "cut_off_between", "the same between two others", 4, 1, 1,
	  600, 0, init_cut_off, cut_off, finish },
	{ "mutex", "try", "a try that fails changes nothing", 3, 2, 2, 600, 16,
	  init, lock_or_try, finish },
	{ "mutex", "timed", "a sleeper that leaves does not consume a wake-up",
	  3, 1, 1, 600, 16, init, lock_or_time_out, finish },
	{ "mutex", "handoff", "the mutex is handed to a sleeper", 3, 1, 2, 600,
	  16, init_handoff, lock_and_unlock, finish },
	{ "mutex", "handoff_blind",
	  "the same where nobody knows whether a wake-up met one", 3, 1, 1, 600,
	  16, init_handoff_blind, lock_and_unlock, finish },
	{ "mutex", "handoff_blind_timed", "the same, and sleepers leave", 3, 1,
	  1, 600, 16, init_handoff_blind, lock_or_time_out, finish },
	{ "mutex", "abandoned", "a sleeper is cut off, and may hold by then", 3,
	  1, 2, 600, 3, init_abandoned, leave_to_others, finish },
	{ "mutex", "overtaken", "a sleeper is woken and competes", 3, 2, 2, 600,
	  16, init_overtaken, lock_and_unlock, finish },
	{ "mutex", "fifo", "sleepers are served in order", 3, 1, 2, 600, 3,
	  init_held, arrive_in_order, finish },
	{ "mutex", "priority", "a sleeper that comes before earlier ones", 3, 1,
	  1, 600, 3, init_priority, sleep_and_unlock, finish },
	{ "mutex", "priority_timed", "the same, and sleepers leave", 3, 1, 1,
	  600, 3, init_priority, lock_or_time_out, finish },
	{ "mutex", "priority_handoff",
	  "the same when the first was promised it", 3, 1, 1, 600, 3,
	  init_priority_handoff, sleep_and_unlock, finish },
	{ "mutex", "moved", "a sleeper that another thread puts on the list", 3,
	  1, 1, 600, 3, init, move_or_be_moved, finish },
	{ "mutex", "moved_pair", "the same while the holder unlocks", 2, 1, 4,
	  600, 2, init_held, be_moved_at_unlock, finish },
	{ "mutex", "moved_posix", "the same, unlocked by an RMW", 3, 1, 1, 600,
	  3, init_posix, move_or_be_moved, finish },
	{ "mutex", "first_is_busy", "a nap ends while the first is stopped", 3,
	  1, 1, 600, 3, init_held_naps, pass_the_first, finish },
	{ "mutex", "promised_is_busy", "the same, and the mutex is promised", 3,
	  1, 1, 600, 3, init_promised_naps, pass_the_first, finish },
	{ "mutex", "foreign_timed",
	  "a wake-up that meets a timed waiter goes to foreign code", 3, 1, 2,
	  600, 16, init_foreign_timed, foreign_and_timed, finish },
	{ "mutex", "spurious", "sleeps that end early", 3, 1, 1, 600, 16,
	  init_spurious, lock_and_unlock, finish },
	{ "mutex", "posix", "freed by the next holder", 3, 1, 2, 600, 16,
	  init_posix, use_and_free, NULL },
	{ "mutex", "foreign",
	  "shared with code that only knows the lock's word", 3, 2, 2, 600, 16,
	  init_foreign, ours_and_foreign, finish },
	{ "mutex", "signal", "a handler interrupts the list", 3, 1, 1, 600, 16,
	  init_signal, lock_and_unlock, finish },
	{ "mutex", "signal_posix", "the same, unlocked by an RMW", 3, 1, 2, 600,
	  16, init_signal_posix, lock_and_unlock, finish },
	{ "mutex", "signal_holds", "a handler has the mutex meanwhile", 3, 1, 1,
	  600, 3, init_held_signal_posix, take_from_handler, finish },
	{ "mutex", "signal_two", "handlers, each in a list of another mutex", 2,
	  1, 2, 600, 2, init_signal_two, use_two, finish_two },
	{ "mutex", "signal_foreign", "a handler, with foreign waiters", 3, 2, 2,
	  600, 16, init_signal_foreign, ours_and_foreign, finish },
	{ "mutex", "sleeping", "no waiter spins", 3, 1, 2, 600, 16,
	  init_sleeping, lock_and_unlock, finish },
	{ "mutex", "resting", "the first sleeper rests, then competes", 3, 1, 1,
	  600, 16, init_resting, sleep_and_unlock, finish },
	{ "mutex", "resting_posix", "the same, unlocked by an RMW", 3, 1, 1,
	  600, 16, init_resting_posix, sleep_and_unlock, finish },
	{ "mutex", "resting_timed", "the same, and sleepers leave", 2, 2, 1,
	  600, 16, init_resting, lock_or_time_out, finish },
	{ "mutex", "resting_foreign", "the same, with foreign waiters", 3, 1, 2,
	  600, 16, init_resting_foreign, ours_and_foreign, finish },
	{ "mutex", "resting_signal", "the same, and a handler interrupts it", 2,
	  1, 2, 600, 16, init_resting_signal, sleep_and_unlock, finish },
	{ "mutex", "changing", "the way changes while threads wait", 3, 1, 2,
	  600, 16, init_spinning, change_the_way, finish },
	{ "mutex", "changed", "another thread changes the way at any step", 3,
	  2, 2, 600, 16, init_changing, be_changed, finish },
	{ "mutex", "on_trial", "sleepers look how a way does that is on trial",
	  3, 1, 1, 600, 16, init_on_trial, lock_and_unlock, finish },
	{ "mutex", "trial_ends", "another thread ends the trial at any step", 3,
	  2, 1, 600, 16, init_on_trial, end_the_trial, finish },
	{ "mutex", "turns_go_on", "an arriving thread wakes the first sleeper",
	  3, 2, 1, 600, 16, init_turns_go_on, lock_and_unlock, finish },
	{ "mutex", "turns_end", "the same, and sleeps", 3, 1, 1, 600, 16,
	  init_turns_end, lock_and_unlock, finish },
	{ "mutex", "turns_wake", "only that thread wakes it", 3, 1, 1, 600, 0,
	  init_turns_wake, arrive_at_a_sleeper, finish },
	{ "mutex", "fork", "waiters lost in a fork are forgotten", 3, 1, 1, 600,
	  16, init_forked, lock_and_unlock, finish },
	{ "mutex", "fork_signal", "the same, and a handler interrupts it", 2, 1,
	  1, 600, 16, init_forked_signal, lock_and_unlock, finish },
	{ "mutex", "fork_pair", "the same, two threads", 2, 1, 4, 600, 0,
	  init_forked, lock_and_unlock, finish },
	{ 0 },
};

const struct check_mutant mutants_mutex[] = {
	{ "a handler waits for the list of another", "lock_to_look",
	  "in_any_section", NULL, "drop" },
	{ "the next that was moved sleeps on", "leave_as_holder", "wake_value",
	  NULL, "drop" },
	{ "first not woken at the end of a turn", "turn_ends", "wake_value",
	  NULL, "drop" },
	{ "sleeper does not say that it is parked", "announce", "WRITE_ONCE",
	  NULL, "drop" },
	{ "sleeper never woken", "unlock_and_wake", "wake_value", NULL,
	  "drop" },
	{ "moved sleeper is not announced to the holder", "announce_asleep",
	  "try_cmpxchg_relaxed", NULL, "drop" },
	{ "moved sleeper is not announced to a plain-store unlock",
	  "announce_asleep", "WRITE_ONCE", NULL, "drop" },
	{ "pulled sleeper never told", "tell", "smp_store_release", NULL,
	  "drop" },
	{ "pulled sleeper never woken", "tell", "wake_value", NULL, "drop" },
	{ "foreign waiter not woken by a timed waiter that leaves",
	  "wake_foreign", "wake_value", NULL, "drop" },
	{ "sleeper never granted", "hand_off", "WRITE_ONCE", "*state", "drop" },
	{ 0 },
};
