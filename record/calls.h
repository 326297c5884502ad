/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_CALLS_H
#define REC_CALLS_H

/* The steps of which each replaced call is made. */
#include "release.h"
#include "waits.h"

#define CALLER __builtin_return_address(0)

/* The thread has found the lock held, and is about to wait. */
__cold void rec_wait_begin(struct rec_waiting *w, struct rec_thread *t,
			   struct rec_site *s, void *lock);
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
/* This hold is one that is timed, from @start; 0: the clock is read as the last step. */
struct rec_timed *rec_hold_timed(struct rec_thread *t, struct rec_site *s,
				 struct rec_held *h, u32 weight, u64 start);
/* The countdown of @s has come to its end: the same. */
__cold void rec_hold_due(struct rec_thread *t, struct rec_site *s,
			 struct rec_held *h);
/* A thread whose timed hold has ended calls for that lock again. */
__cold void rec_came_back(struct rec_thread *t);
/* Makes room in the list of what @t holds. */
__cold void rec_forget_oldest(struct rec_thread *t);
/* The hold of an acquisition has ended, and was timed. */
void rec_count_hold(struct rec_thread *t, struct rec_site *s,
		    const struct rec_timed *timed, u64 hold);
/* What of a sampled hold, which is one of @weight, counts for all of them; the rest is in @d. */
u64 rec_without_rare(const struct rec_timing *u, struct rec_detail *d, u64 hold,
		     u32 weight);
/* A hold that no sample stands for; @hold: or the part that is known. It counts if it is rare. */
void rec_rare_hold(const struct rec_timing *u, struct rec_detail *d, u64 hold);
/* A hold has ended in which a watched wait began; @hold: or the part from then on. */
void rec_met_hold(struct rec_thread *t, struct rec_site *s, bool is_timed,
		  u64 hold);
/* A hold has ended, and the thread holds the lock on: this is a part of another hold. */
void rec_count_inner(struct rec_thread *t, struct rec_site *s,
		     const struct rec_timed *timed);
/* Whether @t holds the lock. */
bool rec_holds(const struct rec_thread *t, const void *lock);
/* The timeline's event of a wait that has ended; NULL: no room. */
struct rec_event *rec_event_wait(struct rec_thread *t, const struct rec_site *s,
				 const struct rec_waiting *w, u64 now, int err);
/* The hold of this event has ended. */
void rec_event_end(struct rec_thread *t, struct rec_event *e, u64 now);
/* Without a wait, a hold has ended that others may have waited for. */
void rec_event_hold(struct rec_thread *t, const struct rec_site *s, u64 start,
		    u64 now);
/* A wait at @s, whose detail is @d, has ended: its stack is counted. */
void rec_stack_waited(struct rec_thread *t, struct rec_site *s,
		      struct rec_detail *d, const struct rec_waiting *w,
		      u64 waited);
void rec_count_time(struct rec_detail *d, u64 waited);
void rec_count_queue(struct rec_detail *d, u64 queue, u32 weight);
/* Adds @ticks to one of the histograms. */
void rec_bucket(u32 *histogram, u64 ticks, u32 weight);
/* This thread's context switches: voluntary, involuntary. */
void rec_switches(u64 *slept, u64 *preempted);
/* This thread's CPU time in nanoseconds; 0: not known. */
u64 rec_cpu_time(void);

/* The next definition refuses a deadline or a clock that is not. */
static inline bool rec_is_right(const struct timespec *when)
{
	return when->tv_nsec >= 0 && when->tv_nsec < 1000000000;
}

static inline bool rec_is_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static inline bool rec_has_taken(int err)
{
	return !err || err == EOWNERDEAD;
}

/* Puts the lock on the list of what @t holds. */
static inline struct rec_held *rec_list(struct rec_thread *t,
					struct rec_site *s, void *lock)
{
	u32 depth = t->depth;
	struct rec_held *h;

	if (unlikely(depth == REC_HELD)) {
		rec_forget_oldest(t);
		depth = t->depth;
	}
	h = &t->held[depth];
	WRITE_ONCE(h->lock, lock);
	WRITE_ONCE(h->record, (u64)s);
	smp_store_release(&t->depth, depth + 1); /* for those who look on */
	return h;
}

/* The same, and shows it to those who wait, or will soon. */
static inline struct rec_held *rec_hold(struct rec_thread *t,
					struct rec_site *s, void *lock)
{
	if (unlikely(rec_has_flag(lock)))
		rec_show_holder(t, s, lock);
	return rec_list(t, s, lock);
}

/* What the rest of rec_took() is, where there is any. */
__cold void rec_took_more(struct rec_thread *t, struct rec_site *s,
			  struct rec_held *h);

/* The calling thread has it, and did not wait. */
static inline void rec_took(struct rec_thread *t, struct rec_site *s,
			    void *lock)
{
	struct rec_held *h = rec_list(t, s, lock);

	s->counted += REC_COUNT_ONE;
	if (unlikely(!(s->counted & REC_COUNT_ONE) || rec_has_flag(lock)))
		rec_took_more(t, s, h);
}

/* A call of the next definition that waits without a deadline. */
typedef int rec_full(void *lock);

/* The lock was busy: calls @full, with the clock read before and behind. */
__cold int rec_wait(struct rec_thread *t, struct rec_site *s, void *lock,
		    rec_full *full);

/*
 * A call that locks. @TRY is asked first: what it takes was not contended. If it is busy,
 * @WAIT follows, in which s_ is the call's record. Other errors are the call's.
 * Each result is told apart at once: what rec_took() is called with needs fewer registers then.
 */
#define REC_LOCK_OR(t, lock, kind, site, TRY, WAIT)                  \
	({                                                           \
		struct rec_site *s_ = rec_site(t, lock, site, kind); \
		int err_;                                            \
                                                                     \
		if (unlikely(t->away == (void *)(lock)))             \
			rec_came_back(t);                            \
		err_ = TRY;                                          \
		if (likely(!err_)) {                                 \
			rec_took(t, s_, lock);                       \
			err_ = 0;                                    \
		} else if (err_ == EOWNERDEAD) {                     \
			rec_took(t, s_, lock);                       \
			err_ = EOWNERDEAD;                           \
		} else if (err_ == EBUSY) {                          \
			err_ = WAIT;                                 \
		}                                                    \
		err_;                                                \
	})

/* By the next definition of NAME. What waits is a function of its own: the common call needs
 * less of the stack, and fewer registers. */
#define REC_LOCK(t, lock, kind, site, TRY, NAME) \
	REC_LOCK_OR(t, lock, kind, site, TRY,    \
		    rec_wait(t, s_, (void *)(lock), (rec_full *)NEXT(NAME)))

/* With a deadline: @FULL waits. */
#define REC_LOCK_UNTIL(t, lock, kind, site, TRY, FULL)        \
	REC_LOCK_OR(t, lock, kind, site, TRY, ({              \
			    struct rec_waiting w_;            \
			    int full_;                        \
                                                              \
			    rec_wait_begin(&w_, t, s_, lock); \
			    full_ = FULL;                     \
			    rec_wait_end(&w_, t, s_, full_);  \
			    full_;                            \
		    }))

/* A call that locks, and does not try first: whether it waits is not seen. */
#define REC_LOCK_UNTRIED(t, lock, kind, site, FULL) \
	REC_LOCK_OR(t, lock, kind, site, FULL, EBUSY)

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
