/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_MUTEX_H
#define LK_MUTEX_H

/*
 * Sleeping mutex with optimistic spinning: 24 bytes.
 *
 *   word   0 free, 1 held, 2 held and a sleeper wants to be told,
 *          3 held by an unlocker that has just found nobody asleep
 *   owner  hint: the CPU the holder took it on, and whether it was seen off it
 *   first  sleepers, FIFO, linked through their stacks; under wait_lock
 *   osq    spinners, FIFO: the one at its head watches the word
 *   parked some unlock must look for a sleeper (see below)
 *   epoch  the fork epoch that first, osq and wait_lock belong to
 *
 *   0 --lock--> 1 --unlock--> 0                   one CAS, one store
 *   1 --first sleeper--> 2 --unlock--> 0 + wake   the sleeper tries again
 *   1 --first sleeper--> 2 --unlock--> 2          hand-off: it holds now
 *   2 --unlock, none asleep--> 3 --> 0
 *
 * Invariants:
 *  1. Who changes word from 0 to non-zero holds; so does a sleeper in state
 *     GRANTED. A held word changes only 1 -> 2, and by its holder.
 *  2. Only the first sleeper competes. While there is one, it is awake (READY),
 *     or word is 2 and parked is set, or some thread is on its way to wake it.
 *  3. A free mutex is left with a sleeper unwoken only while the unlocker
 *     watches it; it then either wakes the sleeper or marks the next holder's
 *     word 2, which makes that holder's unlock look.
 *  4. A sleeper is overtaken at most overtake_limit() times by unlocks that
 *     saw it first and asleep; the next one hands the mutex over.
 *
 * Two ways to unlock; all users of one mutex must use the same:
 *  - lk_mutex_unlock(): a plain store, then a look at parked. The mutex must
 *    stay allocated until the call returns, as in the kernel.
 *  - lk_mutex_unlock_rmw(): one RMW, never touches the mutex afterwards: the
 *    next holder may free it. This is what POSIX asks for.
 *
 * Sources: the kernel mutex as described in its documentation and in Waiman
 * Long's 2013 mails (reads before every RMW, spinning through an MCS queue) and
 * the 2016 hand-off mails; sleeping on the lock word with values 0, 1, 2 from
 * Drepper, "Futexes are tricky"; watching a released lock before waking anyone
 * from the successor policies in Dice, "Malthusian Locks", EuroSys 2017.
 */
#include "osq_lock.h"
#include "tas_lock.h"

#define LK_MUTEX_FREE	0u
#define LK_MUTEX_HELD	1u
#define LK_MUTEX_WANTED 2u
#define LK_MUTEX_DONE	3u

/* Hint bit: the owner was seen off its CPU. Stale until the next holder. */
#define LK_OWNER_OFF_CPU (1u << 30)

struct lk_mutex_waiter;

struct lk_mutex {
	u32 word;
	LK_MUTEX_EMBED
	u32 owner;
	struct lk_mutex_waiter *first;
	struct lk_osq osq;
	struct lk_tas wait_lock;
	u8 parked; /* may be stale set; never stale clear when it counts */
	u16 epoch;
};

#define LK_MUTEX_INIT { 0 }

/* 0, or -ETIMEDOUT past @deadline (NULL: never). */
int lk_mutex_lock_slow(struct lk_mutex *m, const struct lw_deadline *deadline);
/* The same without spinning first. */
int lk_mutex_sleep(struct lk_mutex *m, const struct lw_deadline *deadline);
void lk_mutex_unlock_slow(struct lk_mutex *m);
void lk_mutex_wake(struct lk_mutex *m);

static inline bool lk_mutex_trylock(struct lk_mutex *m)
{
	u32 word = LK_MUTEX_FREE;

	if (READ_ONCE(m->word) != LK_MUTEX_FREE)
		return false;
	/* [mutex.A] ACQUIRE, pairs with mutex.B and .C. */
	if (!try_cmpxchg_acquire(&m->word, &word, LK_MUTEX_HELD))
		return false;
	WRITE_ONCE(m->owner, this_vcpu());
	return true;
}

/* One CAS with no read before it: the line comes over once, exclusive. */
static inline bool lk_mutex_lock_fast(struct lk_mutex *m)
{
	u32 word = LK_MUTEX_FREE, vcpu = this_vcpu();

	/* [mutex.A] */
	if (unlikely(!try_cmpxchg_acquire(&m->word, &word, LK_MUTEX_HELD)))
		return false;
	WRITE_ONCE(m->owner, vcpu);
	return true;
}

static inline void lk_mutex_lock(struct lk_mutex *m)
{
	if (unlikely(!lk_mutex_lock_fast(m)))
		lk_mutex_lock_slow(m, NULL);
}

static inline void lk_mutex_unlock(struct lk_mutex *m)
{
	if (unlikely(READ_ONCE(m->word) != LK_MUTEX_HELD)) {
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

static inline void lk_mutex_unlock_rmw(struct lk_mutex *m)
{
	u32 word = LK_MUTEX_HELD;

	/* [mutex.C] RELEASE, pairs with mutex.A. */
	if (unlikely(!try_cmpxchg_release(&m->word, &word, LK_MUTEX_FREE)))
		lk_mutex_unlock_slow(m);
}

#endif
