/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_RELEASE_H
#define REC_RELEASE_H

/* The steps of a call that releases a lock. */
#include "site.h"
#include "wanted.h"

/* A hold that ends. */
struct rec_ended {
	struct rec_wanted *flag; /* NULL: it is not set */
	struct rec_site *s;	 /* of the acquisition; NULL: it was not seen */
	u64 now;		 /* ticks */
	u64 met; /* ticks: a watched wait had begun by then; 0: none */
	struct rec_timed timed;
	bool is_timed, is_wanted; /* somebody waits for it */
	bool is_inner;		  /* the thread holds it still */
};

/* Before any release: takes the lock off the list of what @t holds. */
void rec_release_begin(struct rec_ended *e, struct rec_thread *t, void *lock);
/* After it: counts the hold, so that no waiter has to wait for that. */
void rec_release_end(struct rec_ended *e, struct rec_thread *t);

/*
 * The common release, @t being rec_mine: takes the lock off the list. False: it did nothing,
 * because this release needs rec_release_begin() and rec_release_end(), or is not recorded.
 */
static inline bool rec_release(struct rec_thread *t, void *lock)
{
	struct rec_held *h;

	if (unlikely(!t || !READ_ONCE(t->ready) || !t->depth))
		return false;
	h = &t->held[t->depth - 1];
	if (unlikely(h->lock != lock || h->record & REC_TIMED ||
		     rec_has_flag(lock)))
		return false;
	WRITE_ONCE(t->depth, t->depth - 1);
	return true;
}

/*
 * Defines unlock_slow(): a call of NAME with what is noted before it and counted behind it,
 * unless nothing is recorded. A function of its own, and called last, so that the common
 * call needs no stack.
 */
#define REC_UNLOCK_SLOW(NAME, TYPE)                                      \
	static __cold __attribute__((noinline)) int unlock_slow(TYPE *l) \
	{                                                                \
		struct rec_thread *t = rec_thread();                     \
		struct rec_ended e;                                      \
		int err;                                                 \
                                                                         \
		if (!t)                                                  \
			return PASS(NAME)(l);                            \
		rec_release_begin(&e, t, (void *)l);                     \
		err = NEXT(NAME)(l);                                     \
		rec_release_end(&e, t);                                  \
		return err;                                              \
	}

#endif
