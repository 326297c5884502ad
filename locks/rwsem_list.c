// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* rwsem_list.h says what this is; rwsem.h has states and invariants. */
#include "rwsem_list.h"

/*
 * After a fork the list, the queue and wait_lock name threads that are gone in
 * this process. Holders stay: one may be the thread that forked.
 */
static __cold void forget_the_gone(struct lk_rwsem *s)
{
	bool waits = !in_any_section();
	/* A signal handler must not wait for the claim of its own thread. */
	void *outer = section_enter(s);

	if (lk_wait_list_claim(&s->epoch, waits, &s->first, &s->wait_lock)) {
		atomic_set(&s->osq.tail, 0);
		atomic_andnot(LK_RWSEM_MARKS, &s->word);
		lk_epoch_done(&s->epoch);
	}
	section_exit(outer);
}

void lk_rwsem_check_epoch(struct lk_rwsem *s)
{
	/* Not in a handler that interrupts just that. */
	if (lk_epoch_is_old(&s->epoch) && !in_section(s))
		forget_the_gone(s);
}

void lk_rwsem_enqueue(struct lk_rwsem *s, struct lk_rwsem_waiter *w)
{
	struct lk_ring *first = lk_ring_first(&s->first);

	if (!first)
		atomic_or(LK_RWSEM_QUEUED, &s->word);
	lk_ring_insert(&s->first, &w->ring);
	w->queued = true;
	/* It has a higher priority, and H, if it is set, is for it now. */
	if (first && is_first(s, w))
		w->due = waiter_of(first)->due;
}

/*
 * The word once @w has left the list: H was for the first. The next one is ASLEEP,
 * as only the first is woken.
 */
u32 lk_rwsem_without(const struct lk_rwsem *s, const struct lk_rwsem_waiter *w,
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
 * The readers on the list, up to rwsem_batch(), hold from here on, unless a writer does.
 * Writers stay where they are: readers go together, wherever they queued. @vain: a
 * hand-off to the first one was.
 */
void lk_rwsem_grant_readers(struct lk_rwsem *s, bool vain, struct wakes *wakes)
{
	u32 word = atomic_read(&s->word), gone = 0, all, n;
	u32 batch = rwsem_batch();
	struct lk_ring *link = lk_ring_first(&s->first), *next;
	bool alone;

	all = count_readers(s, vain, &alone);
	n = all < batch ? all : batch;
	if (!n)
		return;
	if (goes_along(waiter_of(link), vain))
		gone |= LK_RWSEM_HANDOFF;
	if (alone && n == all)
		gone = LK_RWSEM_MARKS;
	do {
		if (word & LK_RWSEM_WRITER)
			return; /* its unlock will look */
		/* [rwsem_list.A] ACQUIRE, pairs with rwsem.B and .D: the last writer's
		 * writes, which the readers get by wait_lock. */
	} while (!atomic_try_cmpxchg_acquire(
		&s->word, &word, (word + n * LK_RWSEM_READER) & ~gone));

	for (; n; link = next) {
		struct lk_rwsem_waiter *w = waiter_of(link);

		next = link->next;
		if (!goes_along(w, vain))
			continue;
		n--;
		w->more = wakes->more = !n && all > batch;
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
 * Wakes the first on the list, which is ASLEEP and may not hold yet. It is woken even if the
 * lock is held, because its patience begins when it sleeps as the first.
 */
void lk_rwsem_ready_first(struct lk_rwsem *s, struct wakes *wakes)
{
	u32 word = atomic_read(&s->word);
	struct lk_rwsem_waiter *w;

	if (!(word & LK_RWSEM_LOOK))
		return;
	w = first_of(s);
	if (!is_writer(w) && wakes->more)
		return; /* it will be granted by the last one granted */
	/* The holder will look when it leaves, the last reader too. */
	if ((word & ~LK_RWSEM_MARKS) && w->timed)
		return;
	if (!wakes->count)
		wakes->since = w->since;
	atomic_andnot(LK_RWSEM_LOOK, &s->word);
	WRITE_ONCE(w->state, READY);
	wakes->state[wakes->count++] = &w->state;
}

/* The lock may have become free, or another sleeper the first. */
void lk_rwsem_look_for_next(struct lk_rwsem *s, struct wakes *wakes)
{
	u32 word = atomic_read(&s->word);

	if (!(word & LK_RWSEM_LOOK))
		return;
	if (!is_writer(first_of(s)) && !(word & LK_RWSEM_WRITER))
		lk_rwsem_grant_readers(s, false, wakes);
	lk_rwsem_ready_first(s, wakes);
}

/*
 * Ends the section and wakes those of @wakes. One that has waited for long may find
 * all CPUs taken by those that pass it: then ours is for it.
 */
void lk_rwsem_unlock_and_wake(struct lk_rwsem *s, void *outer,
			      const struct wakes *wakes)
{
	u32 i;

	list_unlock(s, outer);
	for (i = 0; i < wakes->count; i++)
		wake_value(wakes->state[i]);
	if (wakes->count && local_clock() - wakes->since > give_way_ns())
		give_way();
}

static void look(void *s)
{
	lk_rwsem_look(s);
}

/*
 * Locks the list for a look at the sleepers. False: the caller is a signal handler, and
 * the thread that it interrupted will look.
 */
static bool lock_to_look(struct lk_rwsem *s, void **outer)
{
	lk_rwsem_check_epoch(s);
	if (in_any_section())
		return lk_wait_list_try_to_look(s, &s->wait_lock, &s->epoch,
						look, outer);
	*outer = list_lock(s);
	return true;
}

void lk_rwsem_look(struct lk_rwsem *s)
{
	struct wakes wakes = { .count = 0 };
	void *outer;

	if (!lock_to_look(s, &outer))
		return;
	lk_rwsem_look_for_next(s, &wakes);
	lk_rwsem_unlock_and_wake(s, outer, &wakes);
}
