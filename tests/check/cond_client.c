// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "cond.h"
#include "frame.h"

static struct lk_mutex mutex;
static struct lk_cond cond;
static u32 tokens, waiting, over, sent;

/* Threads also wait for the locks of the lists. */
static void init_contended(void)
{
	u32 i;

	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = 0;
	check_world.no_slots = true;
	check_world.no_time = true;
	check_world.handover_spins = 0;
}

/* A thread begins a section of a list when no other is in one. */
static void init(void)
{
	init_contended();
	check_world.sections_exclude = true;
}

/* The interposer's unlock is an RMW, and its sleepers look again. */
static void init_posix(void)
{
	init();
	check_world.posix = true;
}

static void init_spurious(void)
{
	init();
	check_world.spurious = 1;
}

static void lock(void)
{
	lk_mutex_lock(&mutex);
}

static void unlock(void)
{
	lk_mutex_unlock(&mutex);
}

/* Holding the mutex: waits for a token and takes it. */
static void take_token(void)
{
	while (!tokens)
		lk_cond_wait(&cond, &mutex, NULL);
	tokens--;
	critical_section();
}

static void consume(void)
{
	lock();
	take_token();
	unlock();
}

static void produce(u32 count, bool all, bool held)
{
	lock();
	tokens += count;
	critical_section();
	if (!held)
		unlock();
	if (all)
		lk_cond_broadcast(&cond);
	else
		lk_cond_signal(&cond);
	if (held)
		unlock();
}

/* Thread 0 gives each other thread a token for each of its acquisitions. */
static void one_each(u32 id, bool held)
{
	u32 i;

	if (id)
		EACH_ACQUISITION(consume());
	else
		for (i = 1; i < check_threads; i++)
			EACH_ACQUISITION(produce(1, false, held));
}

static void signal_each(u32 id)
{
	one_each(id, true);
}

/* The same, and the mutex is free when the signal comes. */
static void signal_unheld(u32 id)
{
	one_each(id, false);
}

static struct lk_mutex other_mutex;

static void wait_under(struct lk_mutex *m, const u32 *change)
{
	lk_mutex_lock(m);
	while (!*change)
		lk_cond_wait(&cond, m, NULL);
	lk_mutex_unlock(m);
}

/* Threads 1 and 2 wait with a mutex each; thread 3 may have the first one. */
static void wait_with_own(u32 id)
{
	switch (id) {
	case 0:
		lock();
		over = 1;
		unlock();
		lk_mutex_lock(&other_mutex);
		sent = 1;
		lk_cond_broadcast(&cond);
		lk_mutex_unlock(&other_mutex);
		break;
	case 1:
		wait_under(&mutex, &over);
		break;
	case 2:
		wait_under(&other_mutex, &sent);
		break;
	default:
		lock();
		unlock();
	}
}

/* All at once. */
static void one_for_all(u32 id, bool held)
{
	if (id)
		consume();
	else
		produce(check_threads - 1, true, held);
}

static void broadcast(u32 id)
{
	one_for_all(id, true);
}

static void broadcast_unheld(u32 id)
{
	one_for_all(id, false);
}

static struct lkp_deadline soon;

static void init_timed(void)
{
	deadline_after(&soon, 1);
	init();
}

static void init_timed_posix(void)
{
	init_timed();
	check_world.posix = true;
}

/* After the enqueueing: the rest of a wait as a shell makes it. False: cancelled. */
static bool wait_enqueued(struct lk_cond_waiter *w)
{
	int err;

	unlock();
	err = lk_cond_sleep(w, &soon);
	if (err)
		lk_cond_cancel(w);
	if (!lk_cond_relock(w))
		lock();
	lk_cond_done(w);
	return !err;
}

/* Holding the mutex. */
static bool wait_cancellable(void)
{
	struct lk_cond_waiter w;

	lk_cond_enqueue(&cond, &w, &mutex, true);
	return wait_enqueued(&w);
}

/*
 * Thread 1 never keeps a token. It is cancelled, runs out of time, or sends on
 * what it was sent. So the others get one each.
 */
static void one_token(u32 id, bool cancelled)
{
	bool told = true;

	if (id == 0) {
		produce(check_threads - 2, false, true);
	} else if (id > 1) {
		consume();
	} else {
		lock();
		if (!tokens && cancelled)
			told = wait_cancellable();
		else if (!tokens)
			told = !lk_cond_wait(&cond, &mutex, &soon);
		if (told)
			lk_cond_signal(&cond);
		unlock();
	}
}

static void cancel(u32 id)
{
	one_token(id, true);
}

static void time_out(u32 id)
{
	one_token(id, false);
}

/* Holding the mutex: until all is over. Odd threads may run out of time. */
static void wait_for_end(u32 id)
{
	int err = 0;

	while (!over && !err)
		err = lk_cond_wait(&cond, &mutex, id % 2 ? &soon : NULL);
	critical_section();
}

static void broadcast_timed(u32 id)
{
	lock();
	if (id) {
		wait_for_end(id);
	} else {
		over = 1;
		lk_cond_broadcast(&cond);
	}
	unlock();
}

static void destroy_and_free(void)
{
	lk_cond_destroy(&cond);
	cond = (struct lk_cond){ .first = (struct lk_ring *)8 };
}

/* As POSIX has it: freed right after the broadcast that wakes all waiters. */
static void free_after_broadcast(u32 id)
{
	bool all;

	lock();
	if (id) {
		waiting++;
		if (id == 1 && !over)
			wait_cancellable();
		else
			wait_for_end(id);
		unlock();
		return;
	}
	all = waiting == check_threads - 1;
	if (all)
		lk_cond_signal(&cond);
	over = 1;
	lk_cond_broadcast(&cond);
	unlock();
	if (all)
		destroy_and_free();
}

/*
 * The same, and the waiter may pass its signal on: somebody who never runs waits
 * behind it.
 */
static void free_after_signal(u32 id)
{
	static struct lk_cond_waiter w, behind;
	bool all;

	lock();
	if (id) {
		waiting = 1;
		lk_cond_enqueue(&cond, &w, &mutex, true);
		lk_cond_enqueue(&cond, &behind, NULL, false);
		wait_enqueued(&w);
		unlock();
		return;
	}
	lk_cond_signal(&cond);
	lk_cond_broadcast(&cond);
	all = waiting;
	unlock();
	if (all)
		destroy_and_free();
}

/* The only waiter frees it when its wait is over, while the signal may not have returned. */
static void freed_by_waiter(u32 id)
{
	bool waits;

	if (!id) {
		produce(1, false, false);
		return;
	}
	lock();
	waits = !tokens;
	take_token();
	unlock();
	if (waits)
		cond = (struct lk_cond){ .first = (struct lk_ring *)8 };
}

/*
 * Two waiters may run out of time, while the signal may not have returned. If it has
 * reached one, the last frees it.
 */
static void init_last(void)
{
	init_timed();
	waiting = 2;
}

static void freed_by_last(u32 id)
{
	static bool told;
	bool last;

	lock();
	if (id) {
		if (!lk_cond_wait(&cond, &mutex, &soon))
			told = true;
		last = !--waiting && told;
		unlock();
		if (last)
			destroy_and_free();
		return;
	}
	unlock();
	lk_cond_signal(&cond);
}

/* A thread that is in a signal handler until another one has been served. */
static void in_handler_until_over(void)
{
	while (!READ_ONCE(over))
		wait_on_value(&over, 0, NULL, 0);
}

static void end_handler(void)
{
	WRITE_ONCE(over, 1);
	while (wake_value(&over))
		;
}

/* Thread 1 waits, and is in a signal handler until thread 2 has its token. */
static void first_is_busy(u32 id)
{
	struct lk_cond_waiter w;

	if (id == 0) {
		produce(1, false, true);
	} else if (id == 2) {
		consume();
		end_handler();
	} else {
		lock();
		lk_cond_enqueue(&cond, &w, &mutex, false);
		unlock();
		in_handler_until_over();
		if (lk_cond_leave(&w))
			return;
		if (!lk_cond_relock(&w))
			lock();
		unlock();
	}
}

/*
 * Thread 1 waits first, and is in a signal handler until thread 2, which the broadcast
 * moves behind it, has been served. So thread 2 is pulled. Where sleeps are naps, it
 * may also be cancelled: then it may sleep for the mutex behind thread 1.
 */
static struct lk_cond_waiter first, second;
static const struct lkp_deadline *second_until;

static void init_pulled(void)
{
	init_timed();
	second_until = NULL;
	lock();
	lk_cond_enqueue(&cond, &first, &mutex, false);
	lk_cond_enqueue(&cond, &second, &mutex, true);
}

static void init_pulled_posix(void)
{
	init_pulled();
	check_world.posix = true;
	check_world.naps = true;
	second_until = &soon;
}

/*
 * As init_pulled(), but the first is one of the mutex's own sleepers. Its handler has
 * interrupted it before it announced itself. Those that were moved do not nap.
 */
static struct lk_mutex_waiter unannounced;

static void init_unannounced(void)
{
	init_timed();
	check_world.naps = true;
	second_until = NULL;
	lock();
	unannounced =
		(struct lk_mutex_waiter){ .state = LK_ASLEEP, .queued = true };
	lk_ring_insert(&mutex.first, &unannounced.ring);
	lk_cond_enqueue(&cond, &second, &mutex, false);
}

/* Those that were moved do not nap. */
static void init_pulled_timed(void)
{
	init_pulled();
	check_world.naps = true;
}

static void init_pulled_timed_posix(void)
{
	init_pulled_timed();
	check_world.posix = true;
}

/* Thread 0 unlocks as code does that knows the mutex's word and nothing else. */
static u32 seen_foreign;

static void init_lent(void)
{
	init_posix();
	check_world.foreign = true;
	check_world.naps = true;
	seen_foreign = 0;
	check_world.foreign_unlocks = &seen_foreign;
}

static void init_foreign(void)
{
	init_lent();
	seen_foreign = 1;
}

static void init_lent_later(void)
{
	init_lent();
	lk_cond_enqueue(&cond, &first, &mutex, false);
}

static void foreign_unlock(void)
{
	if (xchg(&mutex.word, LK_MUTEX_FREE) == LK_MUTEX_WANTED)
		wake_value(&mutex.word);
}

static void foreign_broadcasts(u32 id)
{
	if (id) {
		consume();
		return;
	}
	lock();
	tokens = check_threads - 1;
	lk_cond_broadcast(&cond);
	foreign_unlock();
}

/* Each that the broadcast moves unlocks so as well. The last that it wakes needs no mutex. */
static void init_foreign_chain(void)
{
	static struct lk_cond_waiter behind;

	init_foreign();
	lk_cond_enqueue(&cond, &first, &mutex, false);
	lk_cond_enqueue(&cond, &second, &mutex, false);
	lk_cond_enqueue(&cond, &behind, NULL, false);
}

static void foreign_chain(u32 id)
{
	struct lk_cond_waiter *w = id == 1 ? &first : &second;

	if (!id) {
		lock();
		lk_cond_broadcast(&cond);
	} else {
		if (!lk_cond_relock(w))
			lock();
		lk_cond_done(w);
	}
	critical_section();
	foreign_unlock();
}

/* Nothing shows at first that foreign code unlocks. The broadcast comes at any time. */
static void lend_and_broadcast(u32 id)
{
	if (id == 2) {
		lk_cond_broadcast(&cond);
		return;
	}
	if (id == 1) {
		if (!lk_cond_relock(&first))
			lock();
		lk_cond_done(&first);
		unlock();
		return;
	}
	lock();
	WRITE_ONCE(seen_foreign, 1);
	lk_mutex_lend(&mutex);
	foreign_unlock();
}

static void broadcast_first_is_busy(u32 id)
{
	if (id == 0) {
		lk_cond_broadcast(&cond);
	} else if (id == 2) {
		if (lk_cond_sleep(&second, second_until))
			lk_cond_cancel(&second);
		if (!lk_cond_relock(&second))
			lock();
		lk_cond_done(&second);
		second = (struct lk_cond_waiter){ .phase = 0 }; /* gone */
		critical_section();
		end_handler();
	} else {
		in_handler_until_over();
		if (!lk_cond_relock(&first))
			lock();
		lk_cond_done(&first);
	}
	unlock();
}

static void first_is_unannounced(u32 id)
{
	if (id != 1) {
		broadcast_first_is_busy(id);
		return;
	}
	in_handler_until_over();
	lk_mutex_sleep_moved(&mutex, &unannounced);
	unlock();
}

/*
 * As broadcast_first_is_busy(), but one of the mutex's own sleepers comes behind those that
 * were moved. It is stopped, so it does not nap either.
 */
static void init_before_own(void)
{
	init_pulled();
	unannounced =
		(struct lk_mutex_waiter){ .state = LK_ASLEEP, .queued = true };
}

static void broadcast_before_own(u32 id)
{
	if (id == 0) {
		lk_cond_broadcast(&cond);
		lk_tas_lock(&mutex.wait_lock);
		lk_ring_insert(&mutex.first, &unannounced.ring);
		lk_tas_unlock(&mutex.wait_lock);
		unlock();
	} else if (id == 3) {
		in_handler_until_over();
		lk_mutex_sleep_moved(&mutex, &unannounced);
		unlock();
	} else {
		broadcast_first_is_busy(id);
	}
}

/*
 * As broadcast_first_is_busy(), but thread 2 is cut off on its way to the mutex, and thread 3
 * is moved as well.
 */
static struct lk_cond_waiter behind;

static void init_gives_up(void)
{
	init_pulled();
	lk_cond_enqueue(&cond, &behind, &mutex, false);
}

static void pulled_gives_up(u32 id)
{
	if (id < 2) {
		broadcast_first_is_busy(id);
		return;
	}
	if (id == 2) {
		lk_cond_sleep(&second, NULL);
		if (lk_cond_relock(&second)) {
			lk_cond_done(&second);
			unlock();
		} else {
			lk_cond_give_up(&second);
		}
		return;
	}
	lk_cond_sleep(&behind, NULL);
	if (!lk_cond_relock(&behind))
		lock();
	lk_cond_done(&behind);
	end_handler();
	unlock();
}

/*
 * As broadcast_first_is_busy() while thread 3 sleeps for the mutex as well, until a
 * deadline: first of all, or behind those that were moved. Thread 2 is not cancelled.
 */
static void broadcast_beside_timed(u32 id)
{
	if (id < 3) {
		broadcast_first_is_busy(id);
		return;
	}
	if (!lk_mutex_sleep(&mutex, &soon))
		unlock();
}

/* A handler that interrupts each list section sends, and signals. */
static void handler(void)
{
	WRITE_ONCE(sent, 1);
	lk_cond_signal(&cond);
}

static void init_signal(void)
{
	init_contended();
	check_world.signal = handler;
}

/*
 * Two condition variables. Thread 0 wakes the waiter of the first, and its handler those of
 * the other. One of these leaves, and its handlers wake the waiter of the first. So each
 * handler may find that the list it needs is locked by a thread that is in a handler as well.
 */
static struct lk_cond other;
static struct lk_cond_waiter third;
static bool handled;

static void handler_of_two(void)
{
	if (!lwc_thread())
		handled = true;
	lk_cond_broadcast(lwc_thread() ? &cond : &other);
}

static void init_signal_two(void)
{
	init_contended();
	lk_cond_enqueue(&cond, &first, NULL, false);
	lk_cond_enqueue(&other, &second, NULL, false);
	lk_cond_enqueue(&other, &third, NULL, false);
	check_world.signal = handler_of_two;
	check_world.signal_stores = true;
}

static void wake_two(u32 id)
{
	if (id) {
		lk_cond_leave(&second);
		return;
	}
	lk_cond_broadcast(&cond);
	if (!handled) /* the waiter had been claimed, so there was no section */
		lk_cond_broadcast(&other);
}

static void finish_two(void)
{
	CHECK(!cond.first && !other.first, "a waiter is left on a list");
	CHECK(first.sleeper.state == LK_SIGNALLED &&
		      third.sleeper.state == LK_SIGNALLED,
	      "a waiter was not woken");
	CHECK(!cond.lock.locked && !other.lock.locked,
	      "a list is locked at the end");
}

static void wait_for_handler(u32 id)
{
	lock();
	while (id && !READ_ONCE(sent))
		lk_cond_wait(&cond, &mutex, NULL);
	critical_section();
	unlock();
}

/* Thread 1 waits, without a mutex, and leaves; the others wake it. */
static void leave_or_be_told(u32 id)
{
	struct lk_cond_waiter w;

	if (id != 1) {
		EACH_ACQUISITION(lk_cond_broadcast(&cond));
		return;
	}
	EACH_ACQUISITION(lk_cond_enqueue(&cond, &w, NULL, false);
			 if (!lk_cond_leave(&w)) lk_cond_relock(&w));
}

/* After a fork: the list and its lock name threads that are gone. */
static void init_forked(void)
{
	init_contended();
	check_world.epoch = 1;
	cond.first = (struct lk_ring *)8;
	cond.lock.locked = 1;
}

/* Each may be the first here after the fork. */
static void signal_after_fork(u32 id)
{
	lk_cond_signal(&cond);
	signal_unheld(id);
}

static void finish(void)
{
	CHECK(!cond.first && !cond.lock.locked, "a waiter is left on the list");
	CHECK(!atomic_read(&cond.owed), "a waiter still owes");
	CHECK(!mutex.first && !mutex.word, "the mutex is not free");
	CHECK(!other_mutex.first && !other_mutex.word,
	      "the other mutex is not free");
}

/* A later waiter comes before an earlier one. */
static void init_priority(void)
{
	init();
	rising_priorities();
}

const struct check_client check_cond[] = {
	{ "cond", "signal", "one waiter for each signal", 3, 1, 2, 600, 16,
	  init, signal_each, finish },
	{ "cond", "pair", "one waiter, three preemptions", 2, 2, 3, 600, 16,
	  init, signal_each, finish },
	{ "cond", "contended", "threads wait for the locks of the lists", 2, 2,
	  3, 600, 16, init_contended, signal_each, finish },
	{ "cond", "unheld", "signals while the mutex is free", 3, 1, 2, 600, 16,
	  init, signal_unheld, finish },
	{ "cond", "mutexes", "waiters have different mutexes", 4, 1, 1, 600, 4,
	  init, wait_with_own, finish },
	{ "cond", "broadcast", "a broadcast reaches all waiters", 3, 1, 2, 600,
	  16, init, broadcast, finish },
	{ "cond", "broadcast_unheld", "the same while the mutex is free", 3, 1,
	  2, 600, 16, init, broadcast_unheld, finish },
	{ "cond", "posix", "the same with the interposer's mutex", 3, 1, 2, 600,
	  16, init_posix, broadcast_unheld, finish },
	{ "cond", "priority", "a waiter that comes before earlier ones", 3, 1,
	  2, 600, 3, init_priority, broadcast, finish },
	{ "cond", "spurious", "sleeps that end early", 3, 2, 1, 600, 16,
	  init_spurious, signal_each, finish },
	{ "cond", "timed", "a waiter that runs out of time takes no signal", 3,
	  1, 2, 600, 3, init_timed, time_out, finish },
	{ "cond", "timed_broadcast", "the same against a broadcast", 3, 1, 2,
	  600, 16, init_timed, broadcast_timed, finish },
	{ "cond", "cancel", "a waiter that is cancelled passes its signal on",
	  3, 1, 2, 600, 3, init_timed, cancel, finish },
	{ "cond", "freed", "freed after a broadcast", 3, 1, 2, 600, 3,
	  init_timed_posix, free_after_broadcast, NULL },
	{ "cond", "freed_owing", "freed while a waiter may pass a signal on", 2,
	  1, 5, 600, 2, init_timed_posix, free_after_signal, NULL },
	{ "cond", "freed_by_waiter", "freed by the waiter that was signalled",
	  2, 1, NO_BOUND, 600, 2, init, freed_by_waiter, NULL },
	{ "cond", "freed_by_last", "freed by the last of two that may be late",
	  3, 1, 2, 600, 3, init_last, freed_by_last, NULL },
	{ "cond", "foreign", "foreign code holds the mutex, and unlocks it", 3,
	  1, 2, 600, 3, init_foreign, foreign_broadcasts, finish },
	{ "cond", "foreign_chain", "those that it moves unlock so as well", 3,
	  1, 2, 600, 3, init_foreign_chain, foreign_chain, finish },
	{ "cond", "lent", "foreign code unlocks, which nothing shows before", 3,
	  1, 3, 600, 3, init_lent_later, lend_and_broadcast, finish },
	{ "cond", "busy", "a signal goes to a waiter that is asleep", 3, 1, 2,
	  600, 3, init, first_is_busy, finish },
	{ "cond", "pulled", "a broadcast whose first waiter is busy", 3, 1, 3,
	  600, 3, init_pulled, broadcast_first_is_busy, finish },
	{ "cond", "pulled_posix", "the same with the interposer's mutex", 3, 1,
	  3, 600, 3, init_pulled_posix, broadcast_first_is_busy, finish },
	{ "cond", "unannounced",
	  "a broadcast behind one that has not announced itself", 3, 1, 3, 600,
	  3, init_unannounced, first_is_unannounced, finish },
	{ "cond", "gives_up", "as pulled; one that was pulled does not lock", 4,
	  1, 1, 600, 4, init_gives_up, pulled_gives_up, finish },
	{ "cond", "before_own", "as pulled; a sleeper behind them is stopped",
	  4, 1, 1, 600, 4, init_before_own, broadcast_before_own, finish },
	{ "cond", "pulled_timed",
	  "as pulled; one before or behind it times out", 4, 1, 1, 600, 4,
	  init_pulled_timed, broadcast_beside_timed, finish },
	{ "cond", "pulled_timed_posix", "the same with the interposer's mutex",
	  4, 1, 1, 600, 4, init_pulled_timed_posix, broadcast_beside_timed,
	  finish },
	{ "cond", "claims", "a waiter is claimed or leaves, not both", 3, 2, 3,
	  600, 16, init, leave_or_be_told, finish },
	{ "cond", "handler", "a signal by a handler in a list section", 2, 1, 3,
	  600, 2, init_signal, wait_for_handler, finish },
	{ "cond", "handler_two", "handlers, each in a list of another one", 2,
	  1, 3, 600, 2, init_signal_two, wake_two, finish_two },
	{ "cond", "fork", "waiters lost in a fork are forgotten", 2, 1, 2, 600,
	  16, init_forked, signal_after_fork, finish },
	{ 0 },
};

const struct check_mutant mutants_cond[] = {
	{ "waiter never woken", "tell", "wake_value", NULL, "drop" },
	{ "waiter never told", "tell", "smp_store_release", NULL, "drop" },
	{ "poller never told", "tell", "try_cmpxchg_release", NULL, "drop" },
	{ "end of polling is not atomic", "end_polling", "try_cmpxchg_relaxed",
	  NULL, "split" },
	{ "claim is not atomic", "claim", "try_cmpxchg_relaxed", NULL,
	  "split" },
	{ "leaving is not atomic", "lk_cond_leave", "try_cmpxchg_relaxed", NULL,
	  "split" },
	{ "who owes is not counted", "claim", "atomic_add", NULL, "drop" },
	{ "signal that looks again is not counted", "lk_cond_signal",
	  "atomic_add", NULL, "drop" },
	{ "a handler waits for the list of another", "lock_to_claim",
	  "in_any_section", NULL, "drop" },
	{ "a handler's signal is forgotten", "lk_wait_list_try_to_look",
	  "look_later", NULL, "drop" },
	{ "who owes never settles", "settle", "atomic_sub_return_release", NULL,
	  "drop" },
	{ 0 },
};
