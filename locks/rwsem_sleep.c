// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* rwsem_sleep.h says what this is; rwsem.h has states and invariants. */
#include "rwsem_list.h"
#include "rwsem_sleep.h"

/* How a sleeper came to look at the word. */
enum cause {
	NEW,	   /* it has just queued */
	WOKEN,	   /* told, or for no reason; also its nap is over */
	IMPATIENT, /* as the first on the list: its patience or hand-off is over */
	TOO_LATE, /* its deadline has passed */
};

/*
 * Under wait_lock: H should have ended by now. Only the first ends it, which may be stopped, or
 * in a signal handler, while a reader that holds waits for one on the list.
 */
static bool is_overdue(struct lk_rwsem *s)
{
	return (u32)atomic_read(&s->word) & LK_RWSEM_HANDOFF &&
	       local_clock() >= first_of(s)->due;
}

/* Whether @w, on the list, may take the lock now. @overdue: H does not count any more. */
static bool may_take(u32 word, const struct lk_rwsem_waiter *w, bool first,
		     bool overdue, enum cause why)
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
	return why == TOO_LATE || (why != NEW && (!held || overdue));
}

/* Under wait_lock: takes the lock and leaves the list, in one step. */
static bool take_and_leave(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
			   enum cause why)
{
	u32 word = atomic_read(&s->word);
	bool first = is_first(s, w);
	bool overdue = !first && why != NEW && is_overdue(s);

	do {
		if (!may_take(word, w, first, overdue, why))
			return false;
		/* [rwsem_sleep.A] ACQUIRE, pairs with rwsem.B, .C and .D: the
		 * last writer's writes, and the reads are done. */
	} while (!atomic_try_cmpxchg_acquire(
		&s->word, &word, lk_rwsem_without(s, w, word + w->want.gain)));
	lk_ring_remove(&s->first, &w->ring);
	w->queued = false;
	if (is_writer(w))
		leave_owner(&s->owner);
	return true;
}

/* The first on the list: how long arrivals may still pass it. */
struct patience {
	struct lkp_deadline end;
	bool begun;
	u32 vain; /* hand-offs that brought nothing */
	int err;  /* of a wait whose deadline has passed */
};

/* When a hand-off that begins now should have ended, after @vain that brought nothing. */
static u64 due_after(u32 vain)
{
	return local_clock() + ((rwsem_drain_us() * (u64)1000) << vain);
}

/*
 * Under wait_lock: the first on the list, @w, cannot have the lock yet. Sets H if
 * it has lost or waited enough; or, if H did not help, lets the readers on the list have it.
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
		p->vain += p->vain < rwsem_doubles();
		w->due = due_after(p->vain);
		lk_rwsem_grant_readers(s, true, wakes);
		return;
	}
	if (why == WOKEN && !is_new)
		w->lost++;
	if (!promised && (why == IMPATIENT || w->lost >= overtake_limit())) {
		p->begun = false;
		w->due = due_after(p->vain);
		atomic_or(LK_RWSEM_HANDOFF, &s->word);
	}
}

/* naps: full sleeps so far. looks: short sleeps that it may still make during a trial. */
struct sleeps {
	u32 naps, looks;
};

/*
 * Sleeps until told, or until @end: an error. While a way is on trial, wakes each
 * trial_us() to look whether its window is over.
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

/* Sleeps; who is @first no longer than its patience. */
static enum cause nap(struct lk_rwsem *s, struct lk_rwsem_waiter *w, bool first,
		      const struct lkp_deadline *deadline,
		      struct sleeps *sleeps, struct patience *p)
{
	u64 ns = rwsem_patience_us() * (u64)1000;

	if (atomic_read(&s->word) & (int)LK_RWSEM_HANDOFF)
		ns = (rwsem_drain_us() * (u64)1000) << p->vain;
	if (!first || (deadline && deadline_within(deadline, ns))) {
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
					   lk_rwsem_without(s, w, word)))
		;
	lk_ring_remove(&s->first, &w->ring);
	w->queued = false;
	lk_rwsem_look_for_next(s, wakes);
	lk_rwsem_unlock_and_wake(s, outer, wakes);
}

/* More readers were on the list than one thread wakes. */
static void grant_rest(struct lk_rwsem *s, bool vain)
{
	struct wakes wakes = { .count = 0 };
	void *outer = list_lock(s);

	if (anybody_sleeps(s))
		lk_rwsem_grant_readers(s, vain, &wakes);
	lk_rwsem_ready_first(s, &wakes);
	lk_rwsem_unlock_and_wake(s, outer, &wakes);
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

int lk_rwsem_sleep_as(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		      struct lk_rwsem_want want,
		      const struct lkp_deadline *deadline)
{
	struct sleeps sleeps = { .looks = trial_naps() };
	struct patience patience = { .begun = false };
	enum cause why = NEW;
	bool first;
	void *outer;

	*w = (struct lk_rwsem_waiter){ .want = want,
				       .since = local_clock(),
				       .ring.priority = this_priority() };
	outer = list_lock(s);
	lk_rwsem_enqueue(s, w);
	for (;;) {
		struct wakes wakes = { .count = 0 };

		first = is_first(s, w);
		/* Before we look at the word: invariant 2. */
		if (first)
			atomic_or(LK_RWSEM_LOOK, &s->word);
		if (take_and_leave(s, w, why)) {
			/* Others on the list may read with us, or moved up. */
			if (!is_writer(w))
				lk_rwsem_look_for_next(s, &wakes);
			lk_rwsem_unlock_and_wake(s, outer, &wakes);
			return 0;
		}
		if (why == TOO_LATE) {
			leave_timed_out(s, w, outer, &wakes);
			return patience.err;
		}
		WRITE_ONCE(w->state, ASLEEP);
		if (first)
			insist(s, w, why, &patience, &wakes);
		else /* it is new, or one of higher priority came */
			w->timed = patience.begun = false;
		lk_rwsem_unlock_and_wake(s, outer, &wakes);
		/* Its place may have changed since. Its timer stays: @timed says that it runs. */
		why = nap(s, w, first, deadline, &sleeps, &patience);
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
	return lk_rwsem_sleep_as(s, &w, write, deadline);
}
