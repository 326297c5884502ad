/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_MUTEX_H
#define LK_MUTEX_H

/*
 * Sleeping mutex with optimistic spinning: 24 bytes.
 *
 *   word    0 free, 1 held, 2 held and a sleeper wants to be told,
 *           3 held by an unlocker that has just found nobody asleep
 *   owner   hint: the holder's next_owner(), and whether it was seen off its CPU
 *   first   sleepers, by priority, then FIFO; on their stacks; under wait_lock
 *   osq     spinners, FIFO: the one at its head watches the word; an OSQ or
 *           another queue of that size, see struct lk_spin_queue
 *   parked  an unlock has to look for a sleeper
 *   passed  unlocks that passed over the first sleeper, and LK_MUTEX_PROMISED: the
 *           next unlock gives the mutex to it
 *   epoch   the fork epoch that first, osq and wait_lock belong to
 *
 *   0 --lock--> 1 --unlock--> 0                   one CAS, one store
 *   1 --first sleeper--> 2 --unlock--> 0 + wake   the sleeper tries again
 *   2 --unlock, promised--> 2                     the sleeper holds it now
 *   2 --unlock, none asleep--> 3 --> 0
 *
 * Invariants:
 *  1. A thread that changes word from 0 to non-zero holds; so does a sleeper in state
 *     GRANTED. A held word is changed by its holder, or to 2.
 *  2. Only the first sleeper competes. While there is one, it is awake (READY),
 *     or parked is set and a look at the word comes after that, its own or of
 *     the thread that moved it here, or some thread is on its way to wake it.
 *     A rest is a time of READY that ends by itself.
 *  3. A free mutex has a sleeper unwoken only while the unlocker watches it; it
 *     then either wakes the sleeper or has seen the next holder, whose unlock
 *     will look again.
 *  4. A first sleeper that is asleep is passed over at most overtake_limit()
 *     times; then it is promised the mutex, and the next unlock that sees that hands over.
 *     What passes while it is awake is bounded by how soon it gets a CPU, for which
 *     threads take turns; while it rests, by rest_us().
 *  5. The first keeps a free mutex from sleepers for no longer than a nap, because it
 *     may be stopped. Sleeps are naps in user space, where threads are stopped.
 *  6. A sleeper that was moved here naps in no world until it is READY. While there are
 *     such, right behind a first that may be awake, each unlock that looks pulls one: it
 *     takes it off the list and wakes it. The pulled thread makes sure that its own
 *     unlock looks. Others see to it that the next unlock looks, or pull one: a sleeper
 *     that times out, a thread whose turn ends, a broadcast that moves some behind a
 *     sleeper of the mutex's own, and a pulled thread that is cut off. Where foreign code may
 *     unlock, the first is READY, so that it naps.
 *
 * How an unlock looks for sleepers depends on mutex_outlives_unlock():
 *  - true (kernel, library): a plain store, then a look at parked. The mutex
 *    stays allocated until the call returns.
 *  - false (POSIX): the next holder may free the mutex at once, so one RMW both
 *    frees it and finds out about sleepers: 2.
 *
 * Sources: the kernel mutex as described in its documentation and in Waiman
 * Long's 2013 mails (reads before every RMW, spinning through an MCS queue) and
 * the 2016 hand-off mails; sleeping on the lock word with values 0, 1, 2 from
 * Drepper, "Futexes are tricky"; watching a released lock before waking anyone
 * from the successor policies in Dice, "Malthusian Locks", EuroSys 2017.
 */
#include "osq_lock.h"
#include "spinners.h"
#include "tas_lock.h"
#include "wait_ring.h"

#define LK_MUTEX_FREE	0u
#define LK_MUTEX_HELD	1u
#define LK_MUTEX_WANTED 2u
#define LK_MUTEX_DONE	3u

/* In passed. Its other bits count unlocks that are not in the first sleeper's record yet. */
#define LK_MUTEX_PROMISED 0x80u

struct lk_mutex {
	u32 word;
	LK_MUTEX_EMBED
	u32 owner;
	struct lk_ring *first;
	struct lk_osq osq;
	struct lk_tas wait_lock;
	u8 parked; /* may be stale set; never stale clear when it counts */
	u8 passed; /* under wait_lock; read without it */
	u8 epoch;
};

/* clang-format off */
#define LK_MUTEX_INIT { 0 }
/* clang-format on */

/* LK_READY: first on the list and awake, or at rest; it leaves that itself. */
enum {
	LK_ASLEEP,
	LK_READY,
	LK_GRANTED,
	LK_SIGNALLED, /* on no list: locks like anybody; see cond.h */
	LK_POLLING,   /* a condition variable's waiter, awake; see cond.h */
};

/* How far lk_mutex_spin() has come; it begins outside. */
enum { LK_SPIN_OUTSIDE, LK_SPIN_QUEUED, LK_SPIN_HEAD };

/* A sleeper, on its own stack. */
struct lk_mutex_waiter {
	struct lk_ring ring; /* under wait_lock */
	u32 state;	     /* LK_ASLEEP and so on */
	/* Under wait_lock: unlocks that passed it over, without those in passed. */
	u32 overtaken;
	/* Under wait_lock: local_clock() when it queued. 0: it was moved here, and no
	 * unlock has looked at it as the first. */
	u64 since;
	bool moved; /* under wait_lock: moved here, and not READY since; also if pulled */
	/* Its thread knows that it is on the list. It alone reads this, so it is plain:
	 * a WRITE_ONCE may land when the frame is gone already (the sim world). */
	bool queued;
} __wait_record;

/* 0, or -ETIMEDOUT past @deadline (NULL: never). */
int lk_mutex_lock_slow(struct lk_mutex *m, const struct lkp_deadline *deadline);
/*
 * The same with another @queue than the OSQ, never NULL; all that use @m use the same one.
 */
int lk_mutex_lock_slow_over(struct lk_mutex *m,
			    const struct lkp_deadline *deadline,
			    const struct lk_spin_queue *queue);
/*
 * Never sleeps: waits in @queue, a spinlock, then at the word. NULL: it tries outside of
 * any queue. So does a waiter with a @deadline (NULL: never), which could not leave the
 * queue in time. All that use @m wait by this call, or none does; those that queue use
 * the same queue. False: past @deadline, not held.
 */
bool lk_mutex_spin(struct lk_mutex *m, const struct lkp_deadline *deadline,
		   const struct lk_spin_queue *queue, u32 *stage);
/*
 * For a thread whose lk_mutex_spin() ended early, at that *@stage, by a long jump or with
 * its thread. @queue: as in that call, also if it was NULL. False: its node is still in
 * the queue and cannot be removed; @m cannot be used any more.
 */
bool lk_mutex_spin_abandon(struct lk_mutex *m,
			   const struct lk_spin_queue *queue, const u32 *stage);
/*
 * lk_mutex_lock_slow_over() with the caller's @w; @queue is not NULL. For
 * lk_mutex_abandon(), @w must be zero before the call.
 */
int lk_mutex_lock_as(struct lk_mutex *m, struct lk_mutex_waiter *w,
		     const struct lkp_deadline *deadline,
		     const struct lk_spin_queue *queue);
/* As lk_mutex_lock_slow(), without spinning first; for tests/check. */
int lk_mutex_sleep(struct lk_mutex *m, const struct lkp_deadline *deadline);
/*
 * Takes the caller's @w off the list, and passes on what it was told: the call that
 * waits there ended early, by a long jump or with its thread. @w is zero, or that
 * of lk_mutex_lock_as(). False: a section of @m was cut off;
 * @m cannot be used any more.
 */
bool lk_mutex_abandon(struct lk_mutex *m, struct lk_mutex_waiter *w);
/*
 * For condition variables. Puts another thread's @w, LK_ASLEEP, on the list; its
 * thread sleeps on the state. When that changes to LK_SIGNALLED, it was pulled: it
 * locks like anybody, and then calls lk_mutex_was_pulled(). Else it calls
 * lk_mutex_sleep_moved(), which locks. @last: the caller moves no more. False: @w is on no
 * list, and not told. The caller is a signal handler that has interrupted a section, or @m
 * is free and nobody would look.
 */
bool lk_mutex_move(struct lk_mutex *m, struct lk_mutex_waiter *w, bool last);
void lk_mutex_sleep_moved(struct lk_mutex *m, struct lk_mutex_waiter *w);
void lk_mutex_was_pulled(struct lk_mutex *m);
/* The same for a pulled thread that will not lock: it was cut off before it had @m. */
void lk_mutex_pulled_in_vain(struct lk_mutex *m);
/*
 * Held, and foreign code, which wakes no sleeper of ours, is about to unlock @m. The first
 * sleeper naps from now on. Before the call foreign_unlocks() must have become true.
 */
void lk_mutex_lend(struct lk_mutex *m);
void lk_mutex_unlock_slow(struct lk_mutex *m);
/* For catalogues: what is the same over any queue, never NULL. See struct lk_ops. */
void lk_mutex_op_init(void *lock);
bool lk_mutex_op_trylock(void *lock);
bool lk_mutex_op_timedlock(void *lock, u64 ns,
			   const struct lk_spin_queue *queue);
void lk_mutex_op_unlock(void *lock);
u64 lk_mutex_last_waiter(const void *lock);
/* After a fork: forgets the waiters that the child does not have. */
void lk_mutex_check_epoch(struct lk_mutex *m);
void lk_mutex_wake(struct lk_mutex *m);

static inline bool lk_mutex_trylock(struct lk_mutex *m)
{
	u32 word = LK_MUTEX_FREE;

	if (READ_ONCE(m->word) != LK_MUTEX_FREE)
		return false;
	/* [mutex.A] ACQUIRE, pairs with mutex.B, .C, .F and .G. */
	if (!try_cmpxchg_acquire(&m->word, &word, LK_MUTEX_HELD))
		return false;
	leave_owner(&m->owner);
	return true;
}

/* One CAS with no read before it: the line comes over once, exclusive. */
static inline bool lk_mutex_lock_fast(struct lk_mutex *m)
{
	u32 word = LK_MUTEX_FREE;

	/* [mutex.A] */
	if (unlikely(!try_cmpxchg_acquire(&m->word, &word, LK_MUTEX_HELD)))
		return false;
	leave_owner(&m->owner);
	return true;
}

static inline void lk_mutex_lock(struct lk_mutex *m)
{
	if (unlikely(!lk_mutex_lock_fast(m)))
		lk_mutex_lock_slow(m, NULL);
}

static inline void lk_mutex_unlock(struct lk_mutex *m)
{
	u32 word = LK_MUTEX_HELD;

	if (!mutex_outlives_unlock()) {
		/* [mutex.C] RELEASE, pairs with mutex.A. */
		if (unlikely(!try_cmpxchg_release(&m->word, &word,
						  LK_MUTEX_FREE)))
			lk_mutex_unlock_slow(m);
		return;
	}
	/* Not the word: to load what a locked RMW just wrote costs 20 %. */
	if (unlikely(READ_ONCE(m->passed) & LK_MUTEX_PROMISED)) {
		lk_mutex_unlock_slow(m);
		return;
	}
	/* [mutex.B] RELEASE, pairs with mutex.A. */
	smp_store_release(&m->word, LK_MUTEX_FREE);
	/* [mutex.D] MB (light), pairs with mutex.E (heavy): either we see parked,
	 * or the sleeper sees the word free. */
	smp_mb_light();
	if (unlikely(READ_ONCE(m->parked)))
		lk_mutex_wake(m);
}

#endif
