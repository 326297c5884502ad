/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_QSPINLOCK_H
#define LK_QSPINLOCK_H

/*
 * Queued spinlock: 4 bytes.
 *
 *   bits 0-7   locked byte
 *   bit  8     pending: one waiter spins on the word itself, before any queue
 *   bit  9     halted: an unlock has to kick the head of the queue
 *   bits 10-15 tag: constant; another one after a fork, in user space
 *   bits 16-31 tail: slot and nesting level of the last queued waiter
 *
 * As (tail, pending, locked), tag left out; "n" is the tail's node:
 *
 *   (0,0,0) --lock--> (0,0,1) --unlock--> (0,0,0)
 *   (0,0,1) --2nd--> (0,1,1) --unlock--> (0,1,0) --2nd--> (0,0,1)
 *   (0,1,1) --3rd--> (n,1,1)     the 3rd heads the queue, spins on the word
 *   (n,*,*) --4th--> (m,*,*)     the 4th waits on its own node
 *   (n,0,0) --head n--> (0,0,1)  it was the last one
 *   (m,0,0) --head n--> (m,0,1)  then n makes its successor the head
 *
 * Invariants:
 *  1. Only the head of the queue and the owner of the pending bit wait on the word.
 *  2. The thread that set pending owns it. Until the bit is 0 again nobody else takes the
 *     lock or clears the bit. One exception: a waiter that has left the queue, where
 *     waiters leave.
 *  3. A node becomes head at most once. Its predecessor makes it so.
 *  4. Only the head, or the holder on its behalf, sets halted. Neither does while the
 *     pending bit is somebody else's, who takes the lock by a store.
 *  5. A thread that clears halted goes on to kick.
 *
 * Modes, chosen by each caller at run time, safe to mix on one lock (but for
 * only fair) because the head takes the lock by compare-and-exchange:
 *   fair   pending bit, then the queue: FIFO.
 *   steal  an arrival may take the lock with one CAS of the locked half while
 *          a queue waits; no pending path; the queue stays FIFO. A head that
 *          lost more than steal_patience() times sets pending: nobody steals then.
 *   tas    test-and-set at slow-path entry: no queue, unfair.
 *   pv     for more threads than CPUs: as steal, but an arrival tries for
 *          steal_rounds() first, and a waiter halts after a while: in the queue
 *          until it is the head, and the head until an unlock kicks it. An
 *          unlock that finds nobody halted is a store and a load; where
 *          spin_outlives_unlock() is false, one compare-and-exchange, and the
 *          lock is not accessed after that. Where waiters_halt() is false,
 *          nobody halts.
 *   only fair  as fair, on a lock that no other mode is ever used on: nobody
 *          takes the lock past the head, so a store is enough for it. A
 *          thread without a node waits until nobody else does.
 *   auto   pv while CPUs are short, else steal on a hypervisor, else fair.
 *          Its inline attempt is as in fair; what it is, the slow path asks.
 *
 * Where waiters_leave(), a waiter leaves a queue that does not move for long though the
 * lock is free, and waits as in tas; in only fair none does but by
 * lk_qspin_lock_or_leave(). Its node is skipped when its turn comes.
 *
 * A try keeps the rule of its mode: where arrivals may steal it takes the lock
 * past the queue, else it fails while anybody waits.
 *
 * Written from: the prose of Waiman Long's qspinlock mails (v10, 2014-05-07, and
 * the hybrid queued/unfair lock of 2016) and of Peter Zijlstra's test-and-set
 * answer for virtual machines; the queue from Mellor-Crummey & Scott, TOCS
 * 1991; that a waiter may leave its node to be skipped is the idea of Scott &
 * Scherer's queue locks with time-out, PPoPP 2001. The word's fields and their names
 * are the mails'. How a waiter becomes pending, the mixing of modes, halting, kicks,
 * forks and how a waiter leaves are this file's own.
 */
#include <platform.h>

#define LK_Q_LOCKED	    1u
#define LK_Q_LOCKED_MASK    0xffu
#define LK_Q_PENDING	    0x100u
#define LK_Q_LOCKED_PENDING 0x1ffu
#define LK_Q_HALTED	    0x200u /* may be stale set; see qspinlock.M */
#define LK_Q_TAIL_SHIFT	    16
#define LK_Q_TAIL_MASK	    0xffff0000u

enum lk_qspin_mode {
	LK_QSPIN_FAIR,
	LK_QSPIN_STEAL,
	LK_QSPIN_TAS,
	LK_QSPIN_PV,
	LK_QSPIN_AUTO,
	LK_QSPIN_ONLY_FAIR
};

struct lk_qspin {
	union {
		atomic_t val;
		struct {
			u8 locked;
			u8 pending; /* in bit 0; above it halted and the tag */
		};
		struct {
			u16 locked_pending;
			u16 tail;
		};
	};
};

/* @val: the word as the failed attempt saw it; in a mode that steals, its half. */
void lk_qspin_lock_slow(struct lk_qspin *lock, u32 val,
			enum lk_qspin_mode mode);

/*
 * What a waiter looks at before it leaves the queue: it stays while *@word & @busy, or, if
 * *@word & @mark, while *@word & @busy_if_marked. In mode pv the word has to be the lock's
 * own: with another one a kick may be lost to a waiter that has left, and the next one
 * sleeps until its halt ends by itself.
 */
struct lk_qspin_watch {
	const u32 *word;
	u32 busy, mark, busy_if_marked;
};

bool lk_qspin_lock_or_leave_slow(struct lk_qspin *lock, u32 val,
				 enum lk_qspin_mode mode,
				 const struct lk_qspin_watch *watch);

static inline void lk_qspin_init(struct lk_qspin *lock)
{
	atomic_set(&lock->val, wait_tag());
}

/* After a fork: forgets the waiters that the child does not have. */
u32 lk_qspin_adopt(struct lk_qspin *lock, u32 val);
/* What the inline attempt of a try or of a lock did not get. */
bool lk_qspin_trylock_slow(struct lk_qspin *lock, enum lk_qspin_mode mode);

/* Arrivals may take the lock past the queue; auto does not know yet. */
static inline bool lk_qspin_steals(enum lk_qspin_mode mode)
{
	return mode == LK_QSPIN_STEAL || mode == LK_QSPIN_TAS ||
	       mode == LK_QSPIN_PV;
}

/* From free to held, whatever the tail is; @half: expected; the value found if it fails. */
static inline bool lk_qspin_take_half(struct lk_qspin *lock, u16 *half)
{
	/* [qspinlock.C] ACQUIRE, pairs with qspinlock.B and .S: as qspinlock.A. */
	return try_cmpxchg_acquire(&lock->locked_pending, half,
				   (u16)(*half | LK_Q_LOCKED));
}

/* The same, and only while nobody waits. */
static inline bool lk_qspin_take_word(struct lk_qspin *lock, u32 *val)
{
	/* [qspinlock.A] ACQUIRE, pairs with qspinlock.B and .S: the last holder's writes. */
	return atomic_try_cmpxchg_acquire(&lock->val, val, *val | LK_Q_LOCKED);
}

/* An attempt that is right in every mode: free, and nobody waits. */
static inline bool lk_qspin_try_idle(struct lk_qspin *lock)
{
	u32 val = wait_tag();

	return (u32)atomic_read(&lock->val) == val &&
	       lk_qspin_take_word(lock, &val);
}

static inline bool lk_qspin_try_past_queue(struct lk_qspin *lock)
{
	u16 half = (u16)wait_tag();

	return READ_ONCE(lock->locked_pending) == half &&
	       lk_qspin_take_half(lock, &half);
}

/* In a mode that steals it fails only if the lock is held or pending is set. */
static inline bool lk_qspin_trylock(struct lk_qspin *lock,
				    enum lk_qspin_mode mode)
{
	if (lk_qspin_steals(mode) ? lk_qspin_try_past_queue(lock)
				  : lk_qspin_try_idle(lock))
		return true;
	return lk_qspin_trylock_slow(lock, mode);
}

/* One attempt with no read before it: on the half where the mode steals. */
static inline bool lk_qspin_lock_fast(struct lk_qspin *lock,
				      enum lk_qspin_mode mode, u32 *val)
{
	u16 half;

	*val = wait_tag();
	if (!lk_qspin_steals(mode))
		return likely(lk_qspin_take_word(lock, val));
	half = (u16)*val;
	if (likely(lk_qspin_take_half(lock, &half)))
		return true;
	*val = half;
	return false;
}

static inline void lk_qspin_lock(struct lk_qspin *lock, enum lk_qspin_mode mode)
{
	u32 val;

	if (!lk_qspin_lock_fast(lock, mode, &val))
		lk_qspin_lock_slow(lock, val, mode);
}

/*
 * For a lock that is the queue of another one, and whose holder may be stopped while it
 * waits. False, and not held: the wait was too long, and the other lock was free by
 * @watch, which is not NULL. It is always true where waiters_leave() is false.
 */
static inline bool lk_qspin_lock_or_leave(struct lk_qspin *lock,
					  enum lk_qspin_mode mode,
					  const struct lk_qspin_watch *watch)
{
	u32 val;

	return lk_qspin_lock_fast(lock, mode, &val) ||
	       lk_qspin_lock_or_leave_slow(lock, val, mode, watch);
}

/* Waiters in queues that may halt, of all locks: with none, none is asleep. */
extern atomic_t lk_qspin_halting;
/* Wakes the head of the queue, if it is asleep. */
void lk_qspin_kick(struct lk_qspin *lock);
/* The same, after the caller has cleared halted. It uses only the lock's address. */
void lk_qspin_kick_head(struct lk_qspin *lock);

/* Whoever gets the lock may free it: nothing of it is accessed once it is free. */
static inline void lk_qspin_unlock_last(struct lk_qspin *lock)
{
	u16 half = (u16)(wait_tag() | LK_Q_LOCKED);

	/* [qspinlock.S] full RMW, pairs with qspinlock.A, .C to .G, and .L: what
	 * the next holder sees, as qspinlock.B; and who sees the flag finds the
	 * entry. The head sets the flag in this word, so it sees the lock free,
	 * or we see the flag. Spare acq_rel: the kernel has no RMW between
	 * release and full. */
	while (!try_cmpxchg(&lock->locked_pending, &half,
			    (u16)(half & ~(LK_Q_LOCKED | LK_Q_HALTED))))
		;
	if (unlikely(half & LK_Q_HALTED))
		lk_qspin_kick_head(lock);
}

static inline void lk_qspin_unlock(struct lk_qspin *lock)
{
	if (waiters_halt() && !spin_outlives_unlock()) {
		lk_qspin_unlock_last(lock);
		return;
	}
	/* [qspinlock.B] RELEASE, pairs with qspinlock.A and .C to .G. */
	smp_store_release(&lock->locked, 0);
	if (!waiters_halt())
		return;
	/* Not the lock: to load what a locked RMW just wrote costs 30 %. */
	/* [qspinlock.J] MB (light), pairs with qspinlock.K (heavy): either we
	 * see halted, or the head sees the lock free. */
	smp_mb_light();
	if (unlikely(atomic_read(&lk_qspin_halting)))
		lk_qspin_kick(lock);
}

#endif
