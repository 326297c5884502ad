// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Finds the holder of a lock, and notes whether threads wait for it. */
#include "calls.h"

/* After one release in so many it is asked whether a wait is still watched. */
#define ENOUGH 16
/* In the lists of so many threads the holder is looked for if the wait is not watched. */
#define FEW 16

struct rec_thread **rec_threads;
struct rec_wanted *rec_wanted;
void **rec_wanted_lock;
u8 rec_is_wanted[REC_WANTED] __attribute__((aligned(64)));

/*
 * The place of the lock in what @t holds, and since which call; NULL: it is not there. @t may
 * release it at this moment.
 */
static struct rec_held *held_by(struct rec_thread *t, const void *lock,
				u64 *site)
{
	for (u32 i = smp_load_acquire(&t->depth); i--;) {
		struct rec_held *h = &t->held[i];
		u64 record = READ_ONCE(h->record) & ~(u64)REC_TIMED;
		const struct rec_site *s = (const struct rec_site *)record;

		if (READ_ONCE(h->lock) == lock && s &&
		    READ_ONCE(s->lock) == (u64)lock) {
			*site = rec_site_address(s);
			return h;
		}
	}
	return NULL;
}

/* In the lists of @most threads, beginning with the one that held it the last time. */
static u32 search(struct rec_thread *t, const void *lock, u64 *site, u64 most)
{
	u64 threads = READ_ONCE(rec_file->threads);
	u32 at = t->holder;

	if (threads > REC_MAX_WAITS)
		threads = REC_MAX_WAITS;
	for (u64 n = 0; n < threads && n < most; n++, at++) {
		struct rec_thread *other;

		if (at >= threads)
			at = 0;
		other = READ_ONCE(rec_threads[at]);
		if (!other || !held_by(other, lock, site))
			continue;
		t->holder = at;
		return at + 1;
	}
	return 0;
}

/*
 * Which of a thread's holds it is: each acquisition counts in its record. Two have the same number by
 * chance only, once in 2^24.
 */
static u64 hold_number(const struct rec_site *s)
{
	u64 hash = ((u64)s + (READ_ONCE(s->counted) >> REC_COUNT_SHIFT)) *
		   0x9e3779b97f4a7c15ULL;

	return hash >> (64 - REC_MET_BITS);
}

/* The caller has found that @holder holds the lock, which is wanted. */
static void meet(struct rec_wanted *w, u32 holder, const void *lock)
{
	struct rec_thread *other;
	struct rec_held *h;
	u64 site, number, since;

	if (!holder || holder > REC_MAX_WAITS)
		return;
	other = READ_ONCE(rec_threads[holder - 1]);
	h = other ? held_by(other, lock, &site) : NULL;
	if (!h)
		return;
	number = hold_number(rec_held_record(h));
	/* If the number is that of the next hold, that one has begun. */
	if (held_by(other, lock, &site) != h)
		return;
	if (READ_ONCE(w->met) % (1u << REC_MET_BITS) == number)
		return;
	since = (rec_ticks() >> REC_MET_UNIT) + 1;
	WRITE_ONCE(w->met, since << REC_MET_BITS | number);
}

u64 rec_met_since(const struct rec_wanted *w, const struct rec_site *s, u64 now)
{
	u64 met = READ_ONCE(w->met), since;

	if (!met || met % (1u << REC_MET_BITS) != hold_number(s))
		return 0;
	/* The bits that do not fit are those of @now. */
	since = met >> REC_MET_BITS << REC_MET_UNIT;
	since |= now & ~(~0ULL >> (REC_MET_BITS - REC_MET_UNIT));
	return since < now ? since : 0;
}

/*
 * A waiter that is watched searches the lists of all threads, another one those of a few. If the lock
 * is wanted it searches none, because each thread that takes the lock notes that in the lock's entry. If
 * the entry names this thread, and this thread does not hold the lock any more, the holder is not known.
 */
u32 rec_find_holder(struct rec_thread *t, void *lock, u64 *site, bool watched)
{
	u32 at = rec_wanted_at(lock), holder;
	struct rec_wanted *w = &rec_wanted[at];

	*site = 0;
	if (!rec_is_wanted_for(lock)) {
		holder = search(t, lock, site, watched ? REC_MAX_WAITS : FEW);
		if (!watched)
			return holder;
		if (!rec_has_entry(lock))
			WRITE_ONCE(rec_wanted_lock[at], lock);
		WRITE_ONCE(w->site, *site);
		WRITE_ONCE(w->thread, holder);
		WRITE_ONCE(rec_is_wanted[at], 1);
		meet(w, holder, lock);
		return holder;
	}
	holder = READ_ONCE(w->thread);
	if (!holder || (holder == t->number + 1 && !held_by(t, lock, site)))
		return 0;
	if (watched)
		meet(w, holder, lock);
	*site = READ_ONCE(w->site) & REC_ADDRESS;
	return holder;
}

/*
 * A plain store to what that thread writes too: at worst the lock stays on its list. Then its
 * later holds of that lock count as parts of one that does not end.
 */
void rec_released_for_another(struct rec_thread *t, void *lock)
{
	u64 site;
	u32 holder = search(t, lock, &site, REC_MAX_WAITS);
	struct rec_held *h = NULL;

	if (holder)
		h = held_by(rec_threads[holder - 1], lock, &site);
	if (h)
		WRITE_ONCE(h->lock, NULL);
}

void rec_show_holder(const struct rec_thread *t, const struct rec_site *s,
		     void *lock)
{
	struct rec_wanted *w = &rec_wanted[rec_wanted_at(lock)];

	if (!rec_has_entry(lock))
		return;
	WRITE_ONCE(w->site, s->site);
	WRITE_ONCE(w->thread, t->number + 1);
}

/*
 * Clears the flag once no wait is watched. The next one that is sets it again. Not when such a
 * wait ends: the next waiter may be one that is not seen to wait yet, as where a broadcast moves
 * waiters to a mutex.
 */
void rec_wanted_released(struct rec_wanted *w, struct rec_thread *t)
{
	u64 at = (u64)(w - rec_wanted);
	void *lock = READ_ONCE(rec_wanted_lock[at]);

	/* No lock: it was the flag of a parent process. */
	if (lock && (rec_random(t) % ENOUGH || rec_watchers(lock, t->number)))
		return;
	WRITE_ONCE(rec_is_wanted[at], 0);
}
