/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_CALLS_H
#define REC_CALLS_H

/* The steps of which each replaced call is made. */
#include "site.h"

#define CALLER __builtin_return_address(0)

/* What is known of a wait before it ends. */
struct rec_waiting {
	struct rec_owner *owner;
	struct rec_stack *stack;
	u64 since, holder_site, holder, queue;
	u64 asked, slept, preempted;
};

/* The thread has found the lock held, and is about to wait. */
__cold void rec_wait_begin(struct rec_waiting *w, struct rec_thread *t,
			   struct rec_site *s);
/* It has waited; @err as the call returned it. */
__cold void rec_wait_end(struct rec_waiting *w, struct rec_thread *t,
			 struct rec_site *s, int err);
/* The same of a condition variable; false: it did not wait. */
void rec_cond_begin(struct rec_waiting *w, struct rec_thread *t,
		    struct rec_site *s);
bool rec_cond_end(struct rec_waiting *w, struct rec_thread *t,
		  struct rec_site *s, int err);
/* A signal or a broadcast while @waiters wait. */
void rec_cond_woke(struct rec_thread *t, struct rec_site *s, u64 waiters);
/* A try found the lock held. */
__cold void rec_failed(struct rec_thread *t, struct rec_site *s);
/* This hold is one that is timed: the clock is read as the last step. */
__cold void rec_hold_timed(struct rec_thread *t, struct rec_site *s,
			   struct rec_held *h, u32 weight);
/* A thread whose timed hold has ended calls for a lock again, perhaps for that one. */
__cold void rec_came_back(struct rec_thread *t, const struct rec_site *s);
/* A lock that is not the last one taken, or whose hold is timed. */
__cold struct rec_site *rec_release_slow(struct rec_thread *t, void *lock);
/* The timeline's event of a wait that has ended; NULL: no room. */
struct rec_event *rec_event_wait(struct rec_thread *t, const struct rec_site *s,
				 const struct rec_waiting *w, u64 now, int err);
/* The hold of this event has ended. */
void rec_event_end(struct rec_thread *t, struct rec_event *e, u64 now);
/* Without a wait, a hold has ended that others may have waited for. */
__cold void rec_event_hold(struct rec_thread *t, const struct rec_site *s,
			   u64 start, u64 now);
/* How many threads wait for @lock now; as far as is seen. */
u64 rec_waiters(void *lock, u32 but);
/* Shows other threads that this one waits. */
void rec_announce(struct rec_waiting *w, struct rec_thread *t,
		  const struct rec_site *s);
void rec_count_time(struct rec_detail *d, u64 waited);
void rec_count_queue(struct rec_detail *d, u64 queue);
/* Adds @ticks to one of the histograms. */
void rec_bucket(u32 *histogram, u64 ticks, u32 weight);
/* This thread's context switches: voluntary, involuntary. */
void rec_switches(u64 *slept, u64 *preempted);

/* The errors of C11's threads for those of pthread. */
static inline int rec_thrd_result(int err)
{
	switch (err) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	default:
		return thrd_error;
	}
}

static inline bool rec_has_taken(int err)
{
	return !err || err == EOWNERDEAD;
}

/* NULL: more locks are held than are followed. */
static inline struct rec_held *rec_hold(struct rec_thread *t,
					struct rec_site *s, void *lock)
{
	struct rec_owner *o = rec_owner_of(lock);
	struct rec_held *h;

	WRITE_ONCE(o->lock, lock);
	WRITE_ONCE(o->site, s->site);
	WRITE_ONCE(o->thread, t->number + 1);
	if (unlikely(t->depth == REC_HELD)) {
		t->info->deep++;
		return NULL;
	}
	h = &t->held[t->depth++];
	h->lock = lock;
	h->record = s;
	h->start = 0;
	return h;
}

/* The calling thread has it, and did not wait. */
static inline void rec_took(struct rec_thread *t, struct rec_site *s,
			    void *lock)
{
	struct rec_held *h = rec_hold(t, s, lock);

	s->count++;
	if (unlikely(++s->since >= s->gap) && h)
		rec_hold_timed(t, s, h, s->since);
}

/* The calling thread gives it up. Returns the record of its acquisition, or NULL. */
static inline struct rec_site *rec_release(struct rec_thread *t, void *lock)
{
	struct rec_owner *o = rec_owner_of(lock);
	struct rec_held *h = &t->held[t->depth - 1];
	struct rec_site *s;
	bool untimed = t->depth && h->lock == lock && !h->start;
	u64 now;

	if (likely(untimed)) {
		t->depth--;
		s = h->record;
	} else {
		s = rec_release_slow(t, lock);
	}
	if (t->woken_mutex == lock)
		t->woken_mutex = NULL;
	if (unlikely(READ_ONCE(o->wanted)) && READ_ONCE(o->lock) == lock) {
		now = rec_ticks();
		WRITE_ONCE(o->released, now);
		if (untimed)
			rec_event_hold(t, s, 0, now);
	}
	return s;
}

/*
 * A call that locks. @TRY is asked first: what it takes was not contended. If it is busy,
 * @FULL follows, with the clock read before and behind. Other errors are those of @FULL. With one thread there is nobody to wait for.
 */
#define REC_LOCK(t, lock, kind, site, TRY, FULL) \
	REC_LOCK_UNLESS(false, t, lock, kind, site, TRY, FULL)

/* The same; if @untried, @TRY is not asked, and the wait is not seen. */
#define REC_LOCK_UNLESS(untried, t, lock, kind, site, TRY, FULL)     \
	({                                                           \
		struct rec_site *s_ = rec_site(t, lock, site, kind); \
		bool alone_ = (untried) || rec_alone();              \
		int err_;                                            \
                                                                     \
		if (unlikely(t->away))                               \
			rec_came_back(t, s_);                        \
		err_ = alone_ ? FULL : TRY;                          \
                                                                     \
		if (likely(rec_has_taken(err_))) {                   \
			rec_took(t, s_, lock);                       \
		} else if (!alone_ && err_ == EBUSY) {               \
			struct rec_waiting w_;                       \
                                                                     \
			rec_wait_begin(&w_, t, s_);                  \
			err_ = FULL;                                 \
			rec_wait_end(&w_, t, s_, err_);              \
		}                                                    \
		err_;                                                \
	})

/* A call that tries. */
#define REC_TRY(t, lock, kind, site, TRY)                            \
	({                                                           \
		struct rec_site *s_ = rec_site(t, lock, site, kind); \
		int err_ = TRY;                                      \
                                                                     \
		if (rec_has_taken(err_))                             \
			rec_took(t, s_, lock);                       \
		else if (err_ == EBUSY)                              \
			rec_failed(t, s_);                           \
		err_;                                                \
	})

#endif
