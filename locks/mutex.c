// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* mutex.h has states, invariants and sources. */
#include "catalogue.h"
#include "events.h"
#include "mutex.h"
#include "wait_list.h"

/* So many unlocks are added to a sleeper's record at a time: less than LK_MUTEX_PROMISED. */
#define COUNT_UP_TO 64u

/* Foreign code may sleep on the word, by the 0, 1, 2 protocol, and be on no list. */
static inline void wake_foreign(struct lk_mutex *m)
{
	if (foreign_waiters())
		wake_value(&m->word);
}

/* -- wait_lock ----------------------------------------------------------- */

static inline void *list_lock(struct lk_mutex *m)
{
	return lk_wait_list_lock(m, &m->wait_lock);
}

static inline void list_unlock(struct lk_mutex *m, void *outer)
{
	lk_wait_list_unlock(&m->wait_lock, outer);
}

static void look(void *m)
{
	lk_mutex_wake(m);
}

/*
 * Locks the list for a look at the sleepers. False: the caller is a signal handler, and
 * the thread that it interrupted will look.
 */
static bool lock_to_look(struct lk_mutex *m, void **outer)
{
	lk_mutex_check_epoch(m);
	if (in_any_section())
		return lk_wait_list_try_to_look(m, &m->wait_lock, &m->epoch,
						look, outer);
	*outer = list_lock(m);
	return true;
}

/* -- the list ------------------------------------------------------------ */

static inline struct lk_mutex_waiter *waiter_of(struct lk_ring *link)
{
	return container_of(link, struct lk_mutex_waiter, ring);
}

static inline struct lk_mutex_waiter *first_of(struct lk_mutex *m)
{
	return waiter_of(lk_ring_first(&m->first));
}

static inline bool is_asleep(const struct lk_mutex_waiter *w)
{
	return READ_ONCE(w->state) == LK_ASLEEP;
}

static inline bool is_first(const struct lk_mutex *m,
			    const struct lk_mutex_waiter *w)
{
	return lk_ring_first(&m->first) == &w->ring;
}

static inline bool anybody_sleeps(const struct lk_mutex *m)
{
	return lk_ring_first(&m->first);
}

/* Under wait_lock: adds the unlocks that the mutex has counted to the record of @first. */
static u32 count_for(struct lk_mutex *m, struct lk_mutex_waiter *first)
{
	u8 promised = m->passed & LK_MUTEX_PROMISED;

	first->overtaken += m->passed - promised;
	WRITE_ONCE(m->passed, promised);
	return first->overtaken;
}

/*
 * Under wait_lock: one more unlock passes @first over. Returns how many have. The mutex
 * counts up to COUNT_UP_TO of them, because its line is in this CPU's cache. The line of
 * the record is in another one.
 */
static u32 count_passed(struct lk_mutex *m, struct lk_mutex_waiter *first)
{
	u8 passed = m->passed + 1;

	WRITE_ONCE(m->passed, passed);
	passed &= ~LK_MUTEX_PROMISED;
	if (passed >= COUNT_UP_TO)
		return count_for(m, first);
	return first->overtaken + passed;
}

static void list_insert(struct lk_mutex *m, struct lk_mutex_waiter *w)
{
	struct lk_ring *first = lk_ring_first(&m->first);

	lk_ring_insert(&m->first, &w->ring);
	if (first && is_first(m, w))
		count_for(m, waiter_of(first));
}

static void list_remove(struct lk_mutex *m, struct lk_mutex_waiter *w)
{
	if (is_first(m, w))
		WRITE_ONCE(m->passed, 0); /* it was promised to this one */
	lk_ring_remove(&m->first, &w->ring);
}

/*
 * Under wait_lock: makes the first sleeper compete. Returns what to wake once
 * wait_lock is free, or NULL: nobody, or it is awake already.
 */
static u32 *ready_first(struct lk_mutex *m)
{
	struct lk_mutex_waiter *first;

	if (!anybody_sleeps(m)) {
		WRITE_ONCE(m->parked, 0);
		return NULL;
	}
	first = first_of(m);
	if (READ_ONCE(first->state) != LK_ASLEEP)
		return NULL;
	WRITE_ONCE(m->parked, 0);
	first->moved = false;
	/* [mutex.H] RELEASE, pairs with mutex.I: parked is clear before the
	 * sleeper sets it again. */
	smp_store_release(&first->state, LK_READY);
	return &first->state;
}

/*
 * After a fork the list, the queue and wait_lock name threads that are gone in
 * this process. The first thread of the new epoch forgets them; the word
 * stays: it says whether the forking thread holds.
 */
static __cold void forget_the_gone(struct lk_mutex *m)
{
	bool waits = !in_any_section();
	/* A signal handler must not wait for the claim of its own thread. */
	void *outer = section_enter(m);

	if (lk_wait_list_claim(&m->epoch, waits, &m->first, &m->wait_lock)) {
		WRITE_ONCE(m->parked, 0);
		WRITE_ONCE(m->passed, 0);
		atomic_set(&m->osq.tail, 0);
		lk_epoch_done(&m->epoch);
	}
	section_exit(outer);
}

void lk_mutex_check_epoch(struct lk_mutex *m)
{
	/* Not in a handler that interrupts just that. */
	if (lk_epoch_is_old(&m->epoch) && !in_section(m))
		forget_the_gone(m);
}

/* -- those that were moved ----------------------------------------------- */

/*
 * Under wait_lock: takes up to @count moved sleepers, those right behind the first,
 * off the list for tell(). The more are awake, the less often does a CPU become idle
 * between two holders. But one that then finds the mutex held sleeps at the end of the
 * list, and each of these is one fewer. One is always pulled: those at the end may be stopped,
 * too. Real-time sleepers wake one after the other.
 */
static struct lk_ring *pull(struct lk_mutex *m, u32 count)
{
	struct lk_ring *first = lk_ring_first(&m->first), *link = first->prev;
	struct lk_ring *pulled = NULL, *last = NULL;

	if (first->priority)
		return NULL;
	for (; count > 1 && link != first && !waiter_of(link)->moved; count--)
		link = link->prev;
	for (; count; count--) {
		link = first->next;
		if (link == first || !waiter_of(link)->moved)
			break;
		lk_ring_remove(&m->first, link);
		link->next = NULL;
		if (last)
			last->next = link;
		else
			pulled = link;
		last = link;
	}
	return pulled;
}

/*
 * What an unlock wakes. It is passed by value: in memory it would be on the stack, perhaps
 * where a waiter of ours was, in a line that another CPU has now.
 */
struct to_wake {
	u32 *first;		/* the state of the first sleeper, or NULL */
	struct lk_ring *pulled; /* from pull() */
};

static void tell(struct lk_ring *pulled)
{
	struct lk_mutex_waiter *w;

	while (pulled) {
		w = waiter_of(pulled);
		pulled = pulled->next;
		/* [mutex.J] RELEASE, pairs with cond.B: we are done with the
		 * sleeper. Its memory may be gone after that. */
		smp_store_release(&w->state, LK_SIGNALLED);
		wake_value(&w->state);
	}
}

/*
 * Under wait_lock: announces the first sleeper for it. False: the word is free, so
 * nobody will look.
 */
static bool announce_asleep(struct lk_mutex *m)
{
	u32 word;

	WRITE_ONCE(m->parked, 1);
	/* [mutex.E] */
	smp_mb_heavy();
	word = READ_ONCE(m->word);
	while (word != LK_MUTEX_FREE && word != LK_MUTEX_WANTED) {
		/* Relaxed: a mark for the holder, whose own unlock orders. */
		if (try_cmpxchg_relaxed(&m->word, &word, LK_MUTEX_WANTED))
			return true;
	}
	return word == LK_MUTEX_WANTED;
}

/*
 * Under wait_lock. The first may be in a signal handler: it was made to compete, or is not
 * announced yet. Those that were moved right behind it look for nothing by themselves. So the
 * next unlock has to look. If the mutex is free, one of them is woken.
 */
static void look_for_moved(struct lk_mutex *m)
{
	struct lk_ring *first = lk_ring_first(&m->first);

	if (first && first->next != first && waiter_of(first->next)->moved &&
	    !announce_asleep(m))
		tell(pull(m, 1));
}

/* -- spinning ------------------------------------------------------------ */

/*
 * Watches the word without a place in the queue, while nobody has one: most
 * holders are done soon, and to queue would take the line from them twice more.
 */
static bool spin_briefly(struct lk_mutex *m, const struct lk_spin_queue *queue)
{
	u32 round;

	for (round = 0; round < brief_spins(); round++) {
		if (lk_mutex_trylock(m))
			return true;
		if (queue->is_locked(&m->osq))
			return false;
		/* Often: a lock that is free for 100 ns would else be missed. */
		brief_pause(0);
	}
	return false;
}

/* The head of the queue watches the word and takes it once it is free. */
static bool spin_on_word(struct lk_mutex *m)
{
	while (!lk_mutex_trylock(m)) {
		if (need_resched() || !lk_owner_may_run(&m->owner))
			return false;
		cpu_relax();
	}
	return true;
}

/*
 * While others sleep, a thread that has been awake for long wakes the first of them.
 * True: it is to sleep in its place.
 */
static bool turn_ends(struct lk_mutex *m)
{
	u32 *wake;
	void *outer;

	if (!anybody_sleeps(m) || in_any_section() || !turn_is_over())
		return false;
	outer = list_lock(m);
	wake = ready_first(m);
	look_for_moved(m);
	list_unlock(m, outer);
	if (wake)
		wake_value(wake);
	if (!end_turn())
		return false;
	count_event(LK_EV_turn_ended);
	return true;
}

static bool spin_in_queue(struct lk_mutex *m, const struct lk_spin_queue *queue)
{
	bool taken;

	if (lk_way(m) != LK_WAY_SPIN)
		return lk_mutex_trylock(m);
	if (takes_turns() && turn_ends(m))
		return false;
	begin_waiting();
	if (READ_ONCE(m->word) != LK_MUTEX_FREE && !lk_owner_may_run(&m->owner))
		return false;
	if (spin_briefly(m, queue))
		return true;
	if (!queue->lock(&m->osq, &m->word))
		return false;
	taken = spin_on_word(m);
	queue->unlock(&m->osq);
	return taken;
}

/* -- sleeping ------------------------------------------------------------ */

/*
 * A sleeper that has waited since @since was woken; 0: none. After a long wait it may find
 * all CPUs taken by those that pass it: then ours is for it.
 */
static inline void give_way_to(u64 since)
{
	if (since && local_clock() - since > give_way_ns())
		give_way();
}

/*
 * Ends the wait_lock section, and wakes. If the first sleeper was awake, it is about to take
 * the mutex, which would be idle while we gave way.
 */
static inline void unlock_and_wake(struct lk_mutex *m, void *outer,
				   struct to_wake wake)
{
	u64 since = 0;

	if (wake.first)
		since = container_of(wake.first, struct lk_mutex_waiter, state)
				->since;
	list_unlock(m, outer);
	if (wake.first && !wake_value(wake.first))
		since = 0;
	tell(wake.pulled);
	give_way_to(since);
}

/*
 * The first sleeper, awake: announces itself, tries the word, and says whether
 * it has the mutex. If not, the next unlock sees it.
 */
static bool announce(struct lk_mutex *m, struct lk_mutex_waiter *w)
{
	u32 state = READ_ONCE(w->state);

	/* [mutex.I] ACQUIRE, pairs with mutex.H. */
	if (state == LK_READY &&
	    try_cmpxchg_acquire(&w->state, &state, LK_ASLEEP))
		state = LK_ASLEEP;
	if (state == LK_GRANTED)
		return true;
	WRITE_ONCE(m->parked, 1);
	/* [mutex.E] MB (heavy), pairs with mutex.D, .F and .G. */
	smp_mb_heavy();
	/* Whose unlock looks for sleepers need not be told. */
	if (READ_ONCE(m->word) == LK_MUTEX_WANTED)
		return false;
	/* [mutex.A]; 2 also if it was 0: others may sleep behind us. */
	return xchg_acquire(&m->word, LK_MUTEX_WANTED) == LK_MUTEX_FREE;
}

/*
 * READY and first: lets the threads that are awake pass the mutex around for a while.
 * One that would miss its deadline, or that has a priority, does not rest. No hand-off
 * is asked for: a thread that is in a signal handler by then would get the mutex.
 */
static void rest(struct lk_mutex *m, struct lk_mutex_waiter *w,
		 const struct lkp_deadline *deadline)
{
	u64 ns = rest_us() * (u64)1000;
	struct lkp_deadline end;

	if (w->ring.priority || (deadline && deadline_within(deadline, ns)))
		return;
	count_event(LK_EV_adapt_rests);
	deadline_after(&end, ns);
	wait_on_value(&w->state, LK_READY, &end, NO_NAPS);
	lk_way_look(m, READ_ONCE(m->owner), LK_WAYS);
}

/*
 * The first sleeper watches word and state for a while before it sleeps; not while others
 * spin in @queue (NULL: it is not known). The holder would fetch both lines from us at each
 * step, while one of these takes the mutex.
 */
static bool spin_as_first(struct lk_mutex *m, struct lk_mutex_waiter *w,
			  const struct lk_spin_queue *queue)
{
	if (lk_way(m) == LK_WAY_SLEEP)
		return false;
	begin_waiting();
	for (;;) {
		u32 word = READ_ONCE(m->word);

		if (READ_ONCE(w->state) == LK_GRANTED)
			return true;
		/* [mutex.A] */
		if (word == LK_MUTEX_FREE &&
		    try_cmpxchg_acquire(&m->word, &word, LK_MUTEX_WANTED))
			return true;
		if (need_resched() || !lk_owner_may_run(&m->owner))
			return false;
		if (queue && queue->is_locked(&m->osq))
			return false;
		cpu_relax();
	}
}

/*
 * Under wait_lock: foreign code that holds wakes nobody, and those that were moved do not nap.
 * So the first of them is to nap from now on. Returns what ready_first() does.
 */
static u32 *rouse_moved(struct lk_mutex *m)
{
	if (foreign_unlocks(m) && anybody_sleeps(m) && first_of(m)->moved)
		return ready_first(m);
	return NULL;
}

/* Leaves the list as the holder; word is 2. */
static void leave_as_holder(struct lk_mutex *m, struct lk_mutex_waiter *w)
{
	void *outer;
	u32 *wake;

	leave_owner(&m->owner);
	outer = list_lock(m);
	list_remove(m, w);
	w->queued = false;
	WRITE_ONCE(m->parked, anybody_sleeps(m));
	/* Nobody to tell: let the unlock be a fast one. */
	if (!anybody_sleeps(m) && !foreign_waiters())
		WRITE_ONCE(m->word, LK_MUTEX_HELD);
	wake = rouse_moved(m);
	list_unlock(m, outer);
	if (wake)
		wake_value(wake);
}

/* Leaves the list at its deadline, unless the mutex came at the last moment. */
static int leave_timed_out(struct lk_mutex *m, struct lk_mutex_waiter *w,
			   int err)
{
	void *outer = list_lock(m);
	struct to_wake wake = { 0 };
	bool was_first, none_left;

	if (READ_ONCE(w->state) == LK_GRANTED) {
		list_unlock(m, outer);
		leave_as_holder(m, w);
		return 0;
	}
	was_first = is_first(m, w);
	list_remove(m, w);
	w->queued = false;
	/* Whatever was to be told to us is told to the one behind us, or to foreign
	 * code: an unlock that saw us has woken nobody else. */
	if (was_first)
		wake.first = ready_first(m);
	/* Also if we were the last on the list: pull() has counted on us. */
	look_for_moved(m);
	none_left = !anybody_sleeps(m);
	unlock_and_wake(m, outer, wake);
	if (none_left)
		wake_foreign(m);
	return err;
}

/* After a nap, or at its deadline, behind a first that may be stopped: nobody has woken it. */
static bool take_if_free(struct lk_mutex *m)
{
	u32 word = READ_ONCE(m->word);

	/* [mutex.A] */
	return word == LK_MUTEX_FREE &&
	       try_cmpxchg_acquire(&m->word, &word, LK_MUTEX_WANTED);
}

static int sleep_on_list(struct lk_mutex *m, struct lk_mutex_waiter *w,
			 const struct lkp_deadline *deadline,
			 const struct lk_spin_queue *queue)
{
	u32 naps = 0, looks = trial_naps();
	bool rested = false;
	int err = 0;

	for (;;) {
		if (!rested && READ_ONCE(w->state) == LK_READY &&
		    lk_way(m) == LK_WAY_REST) {
			rest(m, w, deadline);
			rested = true;
		}
		/* First on the list: woken, new, or back from a nap. */
		if (READ_ONCE(w->state) != LK_ASLEEP || is_first(m, w)) {
			if (announce(m, w) || spin_as_first(m, w, queue))
				break;
		} else if (naps && take_if_free(m)) {
			break;
		}
		if (looks && lk_way_is_on_trial(m)) {
			looks--;
			err = lk_way_watch(m, &m->owner, LK_WAYS, &w->state,
					   LK_ASLEEP, deadline);
		} else {
			err = wait_on_value(&w->state, LK_ASLEEP, deadline,
					    naps++);
		}
		if (READ_ONCE(w->state) == LK_GRANTED)
			break;
		if (err && take_if_free(m))
			break;
		if (err)
			return leave_timed_out(m, w, err);
	}
	leave_as_holder(m, w);
	return 0;
}

static int sleep_as(struct lk_mutex *m, struct lk_mutex_waiter *w,
		    const struct lkp_deadline *deadline,
		    const struct lk_spin_queue *queue)
{
	void *outer;

	*w = (struct lk_mutex_waiter){ .state = LK_ASLEEP,
				       .since = local_clock(),
				       .ring.priority = this_priority() };
	lk_mutex_check_epoch(m);
	outer = list_lock(m);
	list_insert(m, w);
	if (is_first(m, w))
		WRITE_ONCE(w->state, LK_READY);
	w->queued = true;
	list_unlock(m, outer);
	return sleep_on_list(m, w, deadline, queue);
}

__cold int lk_mutex_sleep(struct lk_mutex *m,
			  const struct lkp_deadline *deadline)
{
	struct lk_mutex_waiter w;

	return sleep_as(m, &w, deadline, NULL);
}

__cold bool lk_mutex_abandon(struct lk_mutex *m, struct lk_mutex_waiter *w)
{
	if (in_section(m))
		return false;
	if (w->queued && !leave_timed_out(m, w, -1))
		lk_mutex_unlock(m);
	return true;
}

bool lk_mutex_move(struct lk_mutex *m, struct lk_mutex_waiter *w, bool last)
{
	struct to_wake wake = { 0 };
	bool moved = true;
	void *outer;

	/* A handler must not wait for the list. */
	if (in_any_section())
		return false;
	lk_mutex_check_epoch(m);
	w->since = 0;
	w->moved = true;
	outer = list_lock(m);
	list_insert(m, w);
	if (is_first(m, w)) {
		if (!announce_asleep(m))
			wake.first = ready_first(m);
	} else if (!is_asleep(first_of(m)) && !announce_asleep(m)) {
		/* The first does not take what is free: it may be stopped. */
		list_remove(m, w);
		moved = w->moved = false;
	}
	if (last && !wake.first) {
		wake.first = rouse_moved(m);
		/* A sleeper of the mutex's own may be stopped before it is announced. */
		if (is_asleep(first_of(m)) && !first_of(m)->moved)
			look_for_moved(m);
	}
	unlock_and_wake(m, outer, wake);
	return moved;
}

/* As an unlock looks for sleepers, but the word is still held. */
void lk_mutex_lend(struct lk_mutex *m)
{
	struct to_wake wake = { 0 };
	void *outer;

	if (!lock_to_look(m, &outer))
		return;
	if (anybody_sleeps(m) && !is_asleep(first_of(m)))
		wake.pulled = pull(m, 1);
	else
		wake.first = ready_first(m);
	unlock_and_wake(m, outer, wake);
}

void lk_mutex_sleep_moved(struct lk_mutex *m, struct lk_mutex_waiter *w)
{
	sleep_on_list(m, w, NULL, NULL);
}

/* Holding: the first may be stopped, so our unlock has to look for those behind. */
void lk_mutex_was_pulled(struct lk_mutex *m)
{
	if (!anybody_sleeps(m))
		return;
	WRITE_ONCE(m->parked, 1);
	WRITE_ONCE(m->word, LK_MUTEX_WANTED);
}

void lk_mutex_pulled_in_vain(struct lk_mutex *m)
{
	void *outer;

	if (!lock_to_look(m, &outer))
		return;
	look_for_moved(m);
	list_unlock(m, outer);
}

__cold int lk_mutex_lock_as(struct lk_mutex *m, struct lk_mutex_waiter *w,
			    const struct lkp_deadline *deadline,
			    const struct lk_spin_queue *queue)
{
	lk_mutex_check_epoch(m);
	lk_way_look(m, READ_ONCE(m->owner), LK_WAYS);
	if (spin_in_queue(m, queue))
		return 0;
	return sleep_as(m, w, deadline, queue);
}

__cold int lk_mutex_lock_slow_over(struct lk_mutex *m,
				   const struct lkp_deadline *deadline,
				   const struct lk_spin_queue *queue)
{
	struct lk_mutex_waiter w;

	return lk_mutex_lock_as(m, &w, deadline, queue);
}

__cold int lk_mutex_lock_slow(struct lk_mutex *m,
			      const struct lkp_deadline *deadline)
{
	return lk_mutex_lock_slow_over(m, deadline, &lk_spin_over_osq);
}

static bool spin_outside(struct lk_mutex *m,
			 const struct lkp_deadline *deadline)
{
	u32 rounds = 0;

	while (!lk_mutex_trylock(m)) {
		/* It may have become free while we were off our CPU. */
		if (deadline && deadline_within(deadline, 0))
			return lk_mutex_trylock(m);
		cpu_relax_wait(&rounds);
	}
	return true;
}

__cold bool lk_mutex_spin(struct lk_mutex *m,
			  const struct lkp_deadline *deadline,
			  const struct lk_spin_queue *queue, u32 *stage)
{
	lk_mutex_check_epoch(m);
	if (deadline || !queue)
		return spin_outside(m, deadline);
	WRITE_ONCE(*stage, LK_SPIN_QUEUED);
	if (!queue->lock(&m->osq, &m->word)) {
		WRITE_ONCE(*stage, LK_SPIN_OUTSIDE);
		return spin_outside(m, NULL);
	}
	WRITE_ONCE(*stage, LK_SPIN_HEAD);
	while (!lk_mutex_trylock(m))
		smp_cond_load_relaxed(&m->word, VAL == LK_MUTEX_FREE);
	WRITE_ONCE(*stage, LK_SPIN_QUEUED);
	queue->unlock(&m->osq);
	WRITE_ONCE(*stage, LK_SPIN_OUTSIDE);
	return true;
}

__cold bool lk_mutex_spin_abandon(struct lk_mutex *m,
				  const struct lk_spin_queue *queue,
				  const u32 *stage)
{
	if (READ_ONCE(*stage) == LK_SPIN_HEAD)
		queue->unlock(&m->osq);
	return READ_ONCE(*stage) != LK_SPIN_QUEUED;
}

/* -- unlocking ----------------------------------------------------------- */

/*
 * The word is free, or was a moment ago: if somebody takes it soon, that one's
 * unlock will look after the sleepers. True if so.
 */
static bool passed_on(struct lk_mutex *m)
{
	u32 limit = lk_watch_rounds(m, &m->owner), rounds = 0, word;

	while (rounds < limit) {
		word = READ_ONCE(m->word);
		if (word > LK_MUTEX_HELD ||
		    (word == LK_MUTEX_HELD && mutex_outlives_unlock()))
			return true;
		/* Relaxed: a mark for the holder, whose own unlock orders. */
		if (word == LK_MUTEX_HELD &&
		    try_cmpxchg_relaxed(&m->word, &word, LK_MUTEX_WANTED))
			return true;
		cpu_relax_wait(&rounds);
	}
	return false;
}

/*
 * Under wait_lock, the word just freed, the list not empty: what to wake. A first
 * sleeper that is awake needs nobody; one that has been passed over half its limit
 * is woken to compete, and at the limit it is promised the next unlock.
 */
static struct to_wake pass_over(struct lk_mutex *m)
{
	struct to_wake wake = { 0 };
	struct lk_mutex_waiter *first = first_of(m);
	u32 limit = overtake_limit(), overtaken;
	bool taken;

	if (!is_asleep(first)) {
		wake.pulled = pull(m, 1);
		return wake;
	}
	/* How long it waited behind others that were moved says nothing. */
	if (!first->since)
		first->since = local_clock();
	overtaken = count_passed(m, first);
	if (overtaken >= limit)
		WRITE_ONCE(m->passed, m->passed | LK_MUTEX_PROMISED);
	taken = passed_on(m);
	if (taken && overtaken != limit / 2)
		return wake;
	/* One also for a first that was not moved: it may be in a signal handler, and those
	 * that were moved behind it look for nothing by themselves. */
	wake.pulled = pull(m, first->moved ? broadcast_wakes() : 1);
	wake.first = ready_first(m);
	return wake;
}

/* The plain-store unlock saw parked: the word is free or has a new holder. */
__cold void lk_mutex_wake(struct lk_mutex *m)
{
	struct to_wake wake = { 0 };
	bool none_asleep = false;
	void *outer;

	if (!lock_to_look(m, &outer))
		return;
	if (anybody_sleeps(m)) {
		wake = pass_over(m);
	} else {
		WRITE_ONCE(m->parked, 0);
		none_asleep = true;
	}
	unlock_and_wake(m, outer, wake);
	/* The unlock of a handler has woken no foreign code. */
	if (none_asleep)
		wake_foreign(m);
}

/* Word is 2, nobody sleeps here: free it, unless a sleeper comes meanwhile. */
static bool free_with_none_asleep(struct lk_mutex *m, void *outer)
{
	u32 word = LK_MUTEX_DONE;

	/* A new sleeper, or foreign code, turns 3 into 2 again. */
	WRITE_ONCE(m->word, LK_MUTEX_DONE);
	list_unlock(m, outer);
	/* [mutex.C] */
	if (!try_cmpxchg_release(&m->word, &word, LK_MUTEX_FREE))
		return false;
	wake_foreign(m);
	return true;
}

/*
 * Hands the mutex to the first sleeper: the word stays, and now means it. False: that
 * one is not asleep. It may be stopped, or in a signal handler that waits for the next
 * holder; so it is told to compete, and gets no promise until it sleeps again.
 */
static bool hand_off(struct lk_mutex *m, void *outer)
{
	u32 *state = ready_first(m);
	u64 since;

	if (!state || !wake_value(state)) {
		WRITE_ONCE(m->passed, m->passed & ~LK_MUTEX_PROMISED);
		return false;
	}
	WRITE_ONCE(m->word, LK_MUTEX_WANTED);
	/* It may be asleep: nobody should spin until it says where it runs. */
	WRITE_ONCE(m->owner,
		   next_owner(READ_ONCE(m->owner)) | LK_OWNER_OFF_CPU);
	/* Orders nothing: leave_as_holder() takes wait_lock, which we hold. */
	WRITE_ONCE(*state, LK_GRANTED);
	since = first_of(m)->since;
	list_unlock(m, outer);
	wake_value(state);
	give_way_to(since);
	return true;
}

__cold void lk_mutex_unlock_slow(struct lk_mutex *m)
{
	struct to_wake wake;
	void *outer;

	if (in_any_section()) {
		/* A signal handler. The thread that has the list may be in one, too. */
		WRITE_ONCE(m->parked, 1);
		/* [mutex.G] full RMW, pairs with mutex.A and .E: as F below.
		 * Spare acq_rel: the kernel has no such RMW. */
		xchg(&m->word, LK_MUTEX_FREE);
		lk_mutex_wake(m);
		return;
	}
	lk_mutex_check_epoch(m);
	for (;;) {
		outer = list_lock(m);
		if (anybody_sleeps(m))
			break;
		WRITE_ONCE(m->parked, 0);
		if (free_with_none_asleep(m, outer))
			return;
	}
	if ((m->passed & LK_MUTEX_PROMISED) && hand_off(m, outer))
		return;
	/* [mutex.F] full RMW, pairs with mutex.A and .E: either we see the
	 * sleeper asleep, or its look at the word finds it free. */
	xchg(&m->word, LK_MUTEX_FREE);
	wake = pass_over(m);
	unlock_and_wake(m, outer, wake);
}

/* -- catalogue ----------------------------------------------------------- */

void lk_mutex_op_init(void *lock)
{
	*(struct lk_mutex *)lock = (struct lk_mutex)LK_MUTEX_INIT;
}

static void lock(void *lock)
{
	lk_mutex_lock(lock);
}

bool lk_mutex_op_trylock(void *lock)
{
	return lk_mutex_trylock(lock);
}

bool lk_mutex_op_timedlock(void *lock, u64 ns,
			   const struct lk_spin_queue *queue)
{
	struct lkp_deadline deadline;

	if (lk_mutex_lock_fast(lock))
		return true;
	deadline_after(&deadline, ns);
	return lk_mutex_lock_slow_over(lock, &deadline, queue) == 0;
}

static bool timedlock(void *lock, u64 ns)
{
	return lk_mutex_op_timedlock(lock, ns, &lk_spin_over_osq);
}

void lk_mutex_op_unlock(void *lock)
{
	lk_mutex_unlock(lock);
}

/* The last sleeper; spinners are not in this list. */
u64 lk_mutex_last_waiter(const void *lock)
{
	struct lk_mutex *m = (struct lk_mutex *)lock;
	void *outer = list_lock(m);
	u64 last;

	last = anybody_sleeps(m) ? (u64)(uintptr_t)first_of(m)->ring.prev : 0;
	list_unlock(m, outer);
	return last;
}

const struct lk_ops lk_mutex_ops = {
	.name = "mutex",
	.summary =
		"sleeping mutex: optimistic spinning, FIFO sleepers, hand-off",
	.size = sizeof(struct lk_mutex),
	.align = _Alignof(struct lk_mutex),
	.flags = LK_SLEEPS | LK_FIFO | LK_FORKS,
	.init = lk_mutex_op_init,
	.lock = lock,
	.trylock = lk_mutex_op_trylock,
	.timedlock = timedlock,
	.unlock = lk_mutex_op_unlock,
	.last_waiter = lk_mutex_last_waiter,
};
