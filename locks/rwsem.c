// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* rwsem.h has states, invariants and sources. */
#include "catalogue.h"
#include "epoch.h"
#include "events.h"
#include "rwsem.h"

/* Sleepers that one thread wakes; a thread that was woken wakes the next so many. */
#define BATCH 32u
/* Vain hand-offs after which the patience grows no more. */
#define MAX_DOUBLES 5u

/* Rounds in which a spinner waits for readers. */
#define READER_ROUNDS 128u

/* READY: awake, and competes. GRANTED: a reader that holds, off the list. */
enum { ASLEEP, READY, GRANTED };

static inline bool is_writer(const struct lk_rwsem_waiter *w)
{
	return w->want.gain == LK_RWSEM_WRITER;
}

/* -- the list ------------------------------------------------------------ */

/* Sleepers to wake once wait_lock is free. The memory may be gone by then. */
struct wakes {
	u32 count;
	u64 since; /* when the first one queued */
	u32 *state[BATCH + 1];
};

static inline struct lk_rwsem_waiter *waiter_of(struct lk_ring *link)
{
	return container_of(link, struct lk_rwsem_waiter, ring);
}

static inline struct lk_rwsem_waiter *first_of(const struct lk_rwsem *s)
{
	return waiter_of(lk_ring_first(&s->first));
}

static inline bool is_first(const struct lk_rwsem *s,
			    const struct lk_rwsem_waiter *w)
{
	return lk_ring_first(&s->first) == &w->ring;
}

static inline bool anybody_sleeps(const struct lk_rwsem *s)
{
	return lk_ring_first(&s->first);
}

static void look_again(struct lk_rwsem *s);

/*
 * After a fork the list, the queue and wait_lock name threads that are gone in
 * this process. Holders stay: one may be the thread that forked.
 */
static __cold void forget_the_gone(struct lk_rwsem *s)
{
	/* A signal handler must not wait for the claim of its own thread. */
	void *outer = section_enter(s);

	if (lk_epoch_claim(&s->epoch)) {
		WRITE_ONCE(s->first, NULL);
		WRITE_ONCE(s->wait_lock.locked, 0);
		atomic_set(&s->osq.tail, 0);
		atomic_andnot(LK_RWSEM_MARKS, &s->word);
		lk_epoch_done(&s->epoch);
	}
	if (unlikely(section_exit(outer)))
		look_again(s);
}

void lk_rwsem_check_epoch(struct lk_rwsem *s)
{
	/* Not in a handler that interrupts just that. */
	if (lk_epoch_is_old(&s->epoch) && !in_section(s))
		forget_the_gone(s);
}

static inline void *list_lock(struct lk_rwsem *s)
{
	void *outer = section_enter(s);

	lk_tas_lock(&s->wait_lock);
	return outer;
}

static void enqueue(struct lk_rwsem *s, struct lk_rwsem_waiter *w)
{
	if (!anybody_sleeps(s))
		atomic_or(LK_RWSEM_QUEUED, &s->word);
	lk_ring_insert(&s->first, &w->ring);
	w->queued = true;
}

/*
 * The word once @w has left the list: H was for the first. The next one is ASLEEP,
 * as only the first is woken.
 */
static u32 without(const struct lk_rwsem *s, const struct lk_rwsem_waiter *w,
		   u32 word)
{
	if (w->ring.next == &w->ring)
		return word & ~LK_RWSEM_MARKS;
	if (!is_first(s, w))
		return word;
	return (word & ~LK_RWSEM_HANDOFF) | LK_RWSEM_LOOK;
}

/* Which waiter may hold beside readers: a reader; if @vain, none that lets writers first. */
static inline bool goes_along(const struct lk_rwsem_waiter *w, bool vain)
{
	return !is_writer(w) && !(vain && w->want.how == LK_READER_QUEUES);
}

/* How many of those are on the list; *@alone: nobody else is. */
static u32 count_readers(const struct lk_rwsem *s, bool vain, bool *alone)
{
	struct lk_ring *first = lk_ring_first(&s->first), *link = first;
	u32 n = 0;

	*alone = true;
	do {
		if (goes_along(waiter_of(link), vain))
			n++;
		else
			*alone = false;
		link = link->next;
	} while (link != first);
	return n;
}

/*
 * The readers on the list, up to BATCH, hold from here on, unless a writer does.
 * Writers stay where they are: readers go together, wherever they queued. @vain: a
 * hand-off to the first one was.
 */
static void grant_readers(struct lk_rwsem *s, bool vain, struct wakes *wakes)
{
	u32 word = atomic_read(&s->word), gone = 0, all, n;
	struct lk_ring *link = lk_ring_first(&s->first), *next;
	bool alone;

	all = count_readers(s, vain, &alone);
	n = all < BATCH ? all : BATCH;
	if (!n)
		return;
	if (goes_along(waiter_of(link), vain))
		gone |= LK_RWSEM_HANDOFF;
	if (alone && n == all)
		gone = LK_RWSEM_MARKS;
	do {
		if (word & LK_RWSEM_WRITER)
			return; /* its unlock will look */
		/* [rwsem.F] ACQUIRE, pairs with rwsem.B and .D: the last writer's
		 * writes, which the readers get by wait_lock. Spare relaxed: a
		 * writer has to pass a sleeper that was woken, and a hand-off
		 * to that one to be in vain, which is beyond the clients'
		 * bounds. */
	} while (!atomic_try_cmpxchg_acquire(
		&s->word, &word, (word + n * LK_RWSEM_READER) & ~gone));

	for (; n; link = next) {
		struct lk_rwsem_waiter *w = waiter_of(link);

		next = link->next;
		if (!goes_along(w, vain))
			continue;
		n--;
		w->more = !n && all > BATCH;
		w->vain = vain;
		if (!wakes->count)
			wakes->since = w->since;
		lk_ring_remove(&s->first, link);
		wakes->state[wakes->count++] = &w->state;
		/* Orders nothing: the sleeper takes wait_lock first. */
		WRITE_ONCE(w->state, GRANTED);
	}
}

/*
 * The lock may have become free, or another sleeper the first: lets that one hold,
 * or wakes it to compete. A new first is woken also if the lock is held, for its
 * patience begins when it sleeps as the first.
 */
static void look_for_next(struct lk_rwsem *s, struct wakes *wakes)
{
	u32 word = atomic_read(&s->word);
	struct lk_rwsem_waiter *w;

	if (!(word & LK_RWSEM_LOOK))
		return;
	w = first_of(s);
	wakes->since = w->since;
	if (!is_writer(w) && !(word & LK_RWSEM_WRITER)) {
		grant_readers(s, false, wakes);
		word = atomic_read(&s->word);
		if (!(word & LK_RWSEM_LOOK))
			return;
		w = first_of(s);
		if (!is_writer(w) && wakes->count)
			return; /* more of them: for the last one granted */
	}
	/* The holder will look when it leaves, the last reader too. */
	if ((word & ~LK_RWSEM_MARKS) && w->timed)
		return;
	atomic_andnot(LK_RWSEM_LOOK, &s->word);
	WRITE_ONCE(w->state, READY);
	wakes->state[wakes->count++] = &w->state;
}

static void list_unlock(struct lk_rwsem *s, void *outer);

/*
 * Ends the section and wakes those of @wakes. One that has waited for long may find
 * all CPUs taken by those that pass it: then ours is for it.
 */
static void unlock_and_wake(struct lk_rwsem *s, void *outer,
			    const struct wakes *wakes)
{
	u32 i;

	list_unlock(s, outer);
	for (i = 0; i < wakes->count; i++)
		wake_value(wakes->state[i]);
	if (wakes->count && local_clock() - wakes->since > give_way_ns())
		give_way();
}

/* An unlock in a signal handler could not look for sleepers: do it for it. */
static __cold void look_again(struct lk_rwsem *s)
{
	struct wakes wakes = { .count = 0 };
	void *outer = list_lock(s);

	look_for_next(s, &wakes);
	unlock_and_wake(s, outer, &wakes);
}

static void list_unlock(struct lk_rwsem *s, void *outer)
{
	lk_tas_unlock(&s->wait_lock);
	if (unlikely(section_exit(outer)))
		look_again(s);
}

/* -- spinning ------------------------------------------------------------ */

static bool take(struct lk_rwsem *s, struct lk_rwsem_want want)
{
	if (want.gain == LK_RWSEM_WRITER)
		return lk_rwsem_trylock(s);
	return lk_rwsem_read_trylock(s, want.how);
}

/* Not if it is for sleepers first, or its writer does not run. */
static bool may_come_free(struct lk_rwsem *s, struct lk_rwsem_want want)
{
	u32 word = atomic_read(&s->word);

	if (word & LK_RWSEM_HANDOFF)
		return false;
	if ((word & LK_RWSEM_QUEUED) && want.how == LK_READER_QUEUES)
		return false;
	return !(word & LK_RWSEM_WRITER) || lk_owner_may_run(&s->owner);
}

/* Without a place in the queue, while nobody has one. */
static bool spin_briefly(struct lk_rwsem *s, struct lk_rwsem_want want,
			 const struct lk_spin_queue *queue)
{
	u32 round;

	for (round = 0; round < brief_spins(); round++) {
		if (take(s, want))
			return true;
		if (queue->is_locked(&s->osq))
			return false;
		brief_pause(round);
	}
	return false;
}

/*
 * The head of the queue watches the word. Nobody says whether readers run, so they
 * are waited for READER_ROUNDS only: a stream of them never ends.
 */
static bool spin_on_word(struct lk_rwsem *s, struct lk_rwsem_want want)
{
	u32 rounds = 0;

	while (!take(s, want)) {
		if (need_resched() || rounds >= READER_ROUNDS ||
		    !may_come_free(s, want))
			return false;
		if (LK_RWSEM_READERS(atomic_read(&s->word)))
			cpu_relax_wait(&rounds);
		else
			cpu_relax();
	}
	return true;
}

/* The first sleeper was told to look, and has not since: it may need a CPU. */
static inline bool first_has_not_run(struct lk_rwsem *s)
{
	return (atomic_read(&s->word) & (LK_RWSEM_QUEUED | LK_RWSEM_LOOK)) ==
	       LK_RWSEM_QUEUED;
}

/* True: a thread that has been awake for long is to sleep, and the first runs instead. */
static bool turn_ends(struct lk_rwsem *s)
{
	if (!first_has_not_run(s) || !turn_is_over() || !end_turn())
		return false;
	count_event(LK_EV_turn_ended);
	return true;
}

static bool spin_in_queue(struct lk_rwsem *s, struct lk_rwsem_want want,
			  const struct lk_spin_queue *queue)
{
	bool taken;

	if (lk_way(s) != LK_WAY_SPIN)
		return take(s, want);
	if (takes_turns() && turn_ends(s))
		return false;
	begin_waiting();
	if (!may_come_free(s, want))
		return false;
	if (spin_briefly(s, want, queue))
		return true;
	if (!queue->lock(&s->osq))
		return false;
	taken = spin_on_word(s, want);
	queue->unlock(&s->osq);
	return taken;
}

/* -- sleeping ------------------------------------------------------------ */

/* How a sleeper came to look at the word. */
enum cause {
	NEW,	   /* it has just queued */
	WOKEN,	   /* told, or for no reason */
	IMPATIENT, /* the first on the list, whose patience or hand-off is over */
	TOO_LATE, /* its deadline has passed */
};

/* Whether @w, on the list, may take the lock now. */
static bool may_take(u32 word, const struct lk_rwsem_waiter *w, bool first,
		     enum cause why)
{
	u32 held = word & ~LK_RWSEM_MARKS;

	if (word & LK_RWSEM_WRITER)
		return false;
	/* Not the first: invariant 5. */
	if (is_writer(w))
		return !held && (first || why != NEW);
	if (first || lk_rwsem_may_read(word, w->want.how))
		return true;
	if (w->want.how == LK_READER_QUEUES)
		return false;
	/* At the end as a nested one. */
	return why == TOO_LATE || (why != NEW && !held);
}

/* Under wait_lock: takes the lock and leaves the list, in one step. */
static bool take_and_leave(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
			   enum cause why)
{
	u32 word = atomic_read(&s->word);
	bool first = is_first(s, w);

	do {
		if (!may_take(word, w, first, why))
			return false;
		/* [rwsem.A] */
	} while (!atomic_try_cmpxchg_acquire(
		&s->word, &word, without(s, w, word + w->want.gain)));
	lk_ring_remove(&s->first, &w->ring);
	w->queued = false;
	if (is_writer(w))
		lk_leave_owner(&s->owner);
	return true;
}

/* The first on the list: how long arrivals may still pass it. */
struct patience {
	struct lkp_deadline end;
	bool begun;
	u32 vain; /* hand-offs that brought nothing */
	int err;  /* of a wait whose deadline has passed */
};

/*
 * Under wait_lock: the first on the list, @w, cannot have the lock yet. Sets H if
 * it has lost or waited enough; or, if H did not help, lets all readers have it.
 */
static void insist(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		   enum cause why, struct patience *p, struct wakes *wakes)
{
	u32 word = atomic_read(&s->word);
	bool promised = word & LK_RWSEM_HANDOFF, is_new = !w->timed;

	w->timed = true;
	if (why == IMPATIENT)
		p->begun = false;
	if (why == IMPATIENT && promised) {
		if (word & LK_RWSEM_WRITER)
			return; /* what it does takes that long */
		p->vain += p->vain < MAX_DOUBLES;
		w->lost = 0;
		atomic_andnot(LK_RWSEM_HANDOFF, &s->word);
		grant_readers(s, true, wakes);
		return;
	}
	if (why == WOKEN && !is_new)
		w->lost++;
	if (!promised && (why == IMPATIENT || w->lost >= overtake_limit())) {
		p->begun = false;
		atomic_or(LK_RWSEM_HANDOFF, &s->word);
	}
}

/* Sleeps of a waiter that were not cut short for a look; looks at a trial that it has left. */
struct sleeps {
	u32 naps, looks;
};

/*
 * Sleeps until told, or until @end: an error. While a way is on trial, wakes each
 * LK_TRIAL_NS to look whether its window is over.
 */
static int sleep_until(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		       const struct lkp_deadline *end, struct sleeps *sleeps)
{
	int err;

	while (sleeps->looks && lk_way_is_on_trial(s)) {
		sleeps->looks--;
		err = lk_way_watch(s, &s->owner, LK_RWSEM_WAYS, &w->state,
				   ASLEEP, end);
		if (err || READ_ONCE(w->state) != ASLEEP)
			return err;
	}
	return wait_on_value(&w->state, ASLEEP, end, sleeps->naps++);
}

/* Sleeps; the first on the list no longer than its patience. */
static enum cause nap(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		      const struct lkp_deadline *deadline,
		      struct sleeps *sleeps, struct patience *p)
{
	u64 ns = LK_RWSEM_PATIENCE_NS;

	if (atomic_read(&s->word) & (int)LK_RWSEM_HANDOFF)
		ns = LK_RWSEM_DRAIN_NS;
	ns <<= p->vain;
	if (!is_first(s, w) || (deadline && deadline_within(deadline, ns))) {
		p->err = sleep_until(s, w, deadline, sleeps);
		return p->err ? TOO_LATE : WOKEN;
	}
	if (!p->begun)
		deadline_after(&p->end, ns);
	p->begun = true;
	if (sleep_until(s, w, &p->end, sleeps))
		return IMPATIENT;
	return WOKEN;
}

static void leave_timed_out(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
			    void *outer, struct wakes *wakes)
{
	u32 word = atomic_read(&s->word);

	/* Orders nothing: invariant 2 is about this word alone. */
	while (!atomic_try_cmpxchg_relaxed(&s->word, &word,
					   without(s, w, word)))
		;
	lk_ring_remove(&s->first, &w->ring);
	w->queued = false;
	look_for_next(s, wakes);
	unlock_and_wake(s, outer, wakes);
}

/* More readers were on the list than one thread wakes. */
static void grant_rest(struct lk_rwsem *s, bool vain)
{
	struct wakes wakes = { .count = 0 };
	void *outer = list_lock(s);

	if (anybody_sleeps(s))
		grant_readers(s, vain, &wakes);
	unlock_and_wake(s, outer, &wakes);
}

/* Under wait_lock, which it ends: @w holds, by another thread's doing. */
static void accept_grant(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
			 void *outer)
{
	w->queued = false;
	list_unlock(s, outer);
	if (w->more)
		grant_rest(s, w->vain);
}

static int sleep_for(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		     struct lk_rwsem_want want,
		     const struct lkp_deadline *deadline)
{
	struct sleeps sleeps = { .looks = trial_naps() };
	struct patience patience = { .begun = false };
	enum cause why = NEW;
	void *outer;

	*w = (struct lk_rwsem_waiter){ .want = want,
				       .since = local_clock(),
				       .ring.priority = this_priority() };
	outer = list_lock(s);
	enqueue(s, w);
	for (;;) {
		struct wakes wakes = { .count = 0 };

		/* Before we look at the word: invariant 2. */
		if (is_first(s, w))
			atomic_or(LK_RWSEM_LOOK, &s->word);
		if (take_and_leave(s, w, why)) {
			/* Others on the list may read with us, or moved up. */
			if (!is_writer(w))
				look_for_next(s, &wakes);
			unlock_and_wake(s, outer, &wakes);
			return 0;
		}
		if (why == TOO_LATE) {
			leave_timed_out(s, w, outer, &wakes);
			return patience.err;
		}
		WRITE_ONCE(w->state, ASLEEP);
		if (is_first(s, w))
			insist(s, w, why, &patience, &wakes);
		else
			w->timed = false; /* one of higher priority came */
		unlock_and_wake(s, outer, &wakes);
		why = nap(s, w, deadline, &sleeps, &patience);
		/* Also when we hold: the thread that granted it is done with the lock then. */
		outer = list_lock(s);
		if (READ_ONCE(w->state) == GRANTED) {
			accept_grant(s, w, outer);
			break;
		}
	}
	return 0;
}

__cold bool lk_rwsem_abandon(struct lk_rwsem *s, struct lk_rwsem_waiter *w)
{
	struct wakes wakes = { .count = 0 };
	void *outer;

	if (in_section(s))
		return false;
	if (!w->queued)
		return true;
	outer = list_lock(s);
	if (READ_ONCE(w->state) == GRANTED) {
		accept_grant(s, w, outer);
		lk_rwsem_read_unlock(s);
	} else {
		leave_timed_out(s, w, outer, &wakes);
	}
	return true;
}

__cold int lk_rwsem_sleep(struct lk_rwsem *s,
			  const struct lkp_deadline *deadline)
{
	struct lk_rwsem_want write = { .gain = LK_RWSEM_WRITER };
	struct lk_rwsem_waiter w;

	lk_rwsem_check_epoch(s);
	return sleep_for(s, &w, write, deadline);
}

static int lock_for(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		    struct lk_rwsem_want want,
		    const struct lkp_deadline *deadline,
		    const struct lk_spin_queue *queue)
{
	lk_rwsem_check_epoch(s);
	/* Only writers are counted. In a steady mix readers are in proportion. */
	lk_way_look(s, READ_ONCE(s->owner), LK_RWSEM_WAYS);
	if (spin_in_queue(s, want, queue ? queue : &lk_spin_over_osq))
		return 0;
	return sleep_for(s, w, want, deadline);
}

__cold int lk_rwsem_lock_as(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
			    const struct lkp_deadline *deadline,
			    const struct lk_spin_queue *queue)
{
	struct lk_rwsem_want write = { .gain = LK_RWSEM_WRITER };

	return lock_for(s, w, write, deadline, queue);
}

__cold int lk_rwsem_read_lock_as(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
				 enum lk_rwsem_reader how,
				 const struct lkp_deadline *deadline,
				 const struct lk_spin_queue *queue)
{
	struct lk_rwsem_want read = { .gain = LK_RWSEM_READER, .how = how };

	return lock_for(s, w, read, deadline, queue);
}

__cold int lk_rwsem_lock_slow(struct lk_rwsem *s,
			      const struct lkp_deadline *deadline,
			      const struct lk_spin_queue *queue)
{
	struct lk_rwsem_waiter w;

	return lk_rwsem_lock_as(s, &w, deadline, queue);
}

__cold int lk_rwsem_read_lock_slow(struct lk_rwsem *s, enum lk_rwsem_reader how,
				   const struct lkp_deadline *deadline,
				   const struct lk_spin_queue *queue)
{
	struct lk_rwsem_waiter w;

	return lk_rwsem_read_lock_as(s, &w, how, deadline, queue);
}

/* -- unlocking ----------------------------------------------------------- */

/* Gives @what back without wait_lock; false: somebody has to be looked after. */
static bool give_back(struct lk_rwsem *s, u32 what)
{
	u32 word = atomic_read(&s->word);

	while (!(word & LK_RWSEM_LOOK)) {
		/* [rwsem.D] RELEASE, pairs with rwsem.A, .E and .F: as B or C. */
		if (atomic_try_cmpxchg_release(&s->word, &word, word - what))
			return true;
	}
	return false;
}

/*
 * The lock is free, or was a moment ago: a thread that takes it soon looks after
 * the sleepers in its unlock. True if somebody holds it.
 */
static bool passed_on(struct lk_rwsem *s)
{
	u32 limit = lk_watch_rounds(s, &s->owner), rounds = 0, word;

	while (rounds < limit) {
		word = atomic_read(&s->word);
		if (word & ~LK_RWSEM_MARKS)
			return true;
		if (word & LK_RWSEM_HANDOFF)
			return false;
		cpu_relax_wait(&rounds);
	}
	return false;
}

__cold void lk_rwsem_unlock_slow(struct lk_rwsem *s, u32 what)
{
	struct wakes wakes = { .count = 0 };
	void *outer;

	while (!give_back(s, what)) {
		if (in_section(s)) {
			/* A signal handler: the thread that it interrupted does the rest. */
			(void)atomic_sub_return_release(
				what, &s->word); /* [rwsem.D] */
			section_missed();
			return;
		}
		lk_rwsem_check_epoch(s);
		outer = list_lock(s);
		if (!((u32)atomic_read(&s->word) & LK_RWSEM_LOOK)) {
			list_unlock(s, outer);
			continue;
		}
		(void)atomic_sub_return_release(what, &s->word); /* [rwsem.D] */
		if (!first_of(s)->timed || !passed_on(s))
			look_for_next(s, &wakes);
		unlock_and_wake(s, outer, &wakes);
		return;
	}
}

void lk_rwsem_downgrade(struct lk_rwsem *s)
{
	/* [rwsem.D] */
	u32 word = atomic_sub_return_release(LK_RWSEM_WRITER - LK_RWSEM_READER,
					     &s->word);

	if (!(word & LK_RWSEM_LOOK))
		return;
	if (in_section(s)) {
		section_missed();
		return;
	}
	lk_rwsem_check_epoch(s);
	look_again(s);
}

/* -- catalogue ----------------------------------------------------------- */

void lk_rwsem_op_init(void *lock)
{
	*(struct lk_rwsem *)lock = (struct lk_rwsem)LK_RWSEM_INIT;
}

static void lock(void *lock)
{
	lk_rwsem_lock(lock);
}

bool lk_rwsem_op_trylock(void *lock)
{
	return lk_rwsem_try_write(lock);
}

bool lk_rwsem_op_timedlock(void *lock, u64 ns,
			   const struct lk_spin_queue *queue)
{
	struct lkp_deadline deadline;

	if (lk_rwsem_trylock(lock))
		return true;
	deadline_after(&deadline, ns);
	return lk_rwsem_lock_slow(lock, &deadline, queue) == 0;
}

static bool timedlock(void *lock, u64 ns)
{
	return lk_rwsem_op_timedlock(lock, ns, NULL);
}

void lk_rwsem_op_unlock(void *lock)
{
	lk_rwsem_unlock(lock);
}

static void lock_read(void *lock)
{
	lk_rwsem_read_lock(lock);
}

bool lk_rwsem_op_read_trylock(void *lock)
{
	return lk_rwsem_try_read(lock, LK_READER_PASSES);
}

bool lk_rwsem_op_read_timedlock(void *lock, u64 ns,
				const struct lk_spin_queue *queue)
{
	struct lkp_deadline deadline;

	if (lk_rwsem_read_trylock(lock, LK_READER_PASSES))
		return true;
	deadline_after(&deadline, ns);
	return lk_rwsem_read_lock_slow(lock, LK_READER_PASSES, &deadline,
				       queue) == 0;
}

static bool timedlock_read(void *lock, u64 ns)
{
	return lk_rwsem_op_read_timedlock(lock, ns, NULL);
}

void lk_rwsem_op_read_unlock(void *lock)
{
	lk_rwsem_read_unlock(lock);
}

void lk_rwsem_op_downgrade(void *lock)
{
	lk_rwsem_downgrade(lock);
}

/* The last sleeper; spinners are not in this list. */
u64 lk_rwsem_last_waiter(const void *lock)
{
	struct lk_rwsem *s = (struct lk_rwsem *)lock;
	void *outer = list_lock(s);
	u64 last;

	last = anybody_sleeps(s) ? (u64)(uintptr_t)first_of(s)->ring.prev : 0;
	list_unlock(s, outer);
	return last;
}

const struct lk_ops lk_rwsem_ops = {
	.name = "rwsem",
	.summary = "sleeping read/write lock: optimistic spinning, reader "
		   "batches, hand-off",
	.size = sizeof(struct lk_rwsem),
	.align = _Alignof(struct lk_rwsem),
	.flags = LK_RW | LK_SLEEPS | LK_FORKS,
	.init = lk_rwsem_op_init,
	.lock = lock,
	.trylock = lk_rwsem_op_trylock,
	.timedlock = timedlock,
	.unlock = lk_rwsem_op_unlock,
	.read_lock = lock_read,
	.read_trylock = lk_rwsem_op_read_trylock,
	.read_timedlock = timedlock_read,
	.downgrade = lk_rwsem_op_downgrade,
	.read_unlock = lk_rwsem_op_read_unlock,
	.last_waiter = lk_rwsem_last_waiter,
};
