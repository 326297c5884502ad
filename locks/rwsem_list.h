/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_RWSEM_LIST_H
#define LK_RWSEM_LIST_H

/*
 * The list of the threads that sleep for a rwsem. Only the rwsem's own files use it, and
 * only under wait_lock. rwsem.h has the invariants.
 */
#include "rwsem.h"
#include "wait_list.h"

/* At most so many sleepers are woken together: the largest rwsem_batch(). */
#define MAX_BATCH 32u

/* READY: awake, and competes. GRANTED: a reader that holds, off the list. */
enum { ASLEEP, READY, GRANTED };

static inline bool is_writer(const struct lk_rwsem_waiter *w)
{
	return w->want.gain == LK_RWSEM_WRITER;
}

/* Sleepers to wake once wait_lock is free. The memory may be gone by then. */
struct wakes {
	u32 count;
	bool more; /* the last of them grants further readers */
	u64 since; /* when the first one queued */
	u32 *state[MAX_BATCH + 1];
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

static inline void *list_lock(struct lk_rwsem *s)
{
	return lk_wait_list_lock(s, &s->wait_lock);
}

static inline void list_unlock(struct lk_rwsem *s, void *outer)
{
	lk_wait_list_unlock(&s->wait_lock, outer);
}

/* Looks at the sleepers. If a signal handler cannot, the thread that it interrupted will. */
void lk_rwsem_look(struct lk_rwsem *s);

void lk_rwsem_enqueue(struct lk_rwsem *s, struct lk_rwsem_waiter *w);
/* The word once @w has left the list. */
u32 lk_rwsem_without(const struct lk_rwsem *s, const struct lk_rwsem_waiter *w,
		     u32 word);
/* Readers on the list hold from here on, and are to be woken. */
void lk_rwsem_grant_readers(struct lk_rwsem *s, bool vain, struct wakes *wakes);
/* Has the first on the list woken to compete, if that is due. */
void lk_rwsem_ready_first(struct lk_rwsem *s, struct wakes *wakes);
/* Lets the first on the list hold, or has it woken, if that is due. */
void lk_rwsem_look_for_next(struct lk_rwsem *s, struct wakes *wakes);
/* Ends the section and wakes those of @wakes. */
void lk_rwsem_unlock_and_wake(struct lk_rwsem *s, void *outer,
			      const struct wakes *wakes);

#endif
