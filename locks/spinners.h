/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_SPINNERS_H
#define LK_SPINNERS_H

/*
 * What the sleeping locks share of optimistic spinning: the queue in which their
 * waiters spin, and the hint by which these find out that the holder does not run.
 *
 * Written from: the text of the 2013 and 2014 mails on optimistic spinning (a
 * spinner queues first; spinning ends when the owner leaves its CPU). That the first
 * to find it out tells the others by the hint is this file's own.
 */
#include "adapt.h"

/* A queue of spinners, of 4 bytes that are 0 when it is new. */
struct lk_spin_queue {
	bool (*is_locked)(const void *queue);
	/*
	 * False: gave up, not held. @word is 0 while the lock whose spinners these are
	 * is free; NULL: it has no such word. A qspinlock wants one; the others do not
	 * look at it.
	 */
	bool (*lock)(void *queue, const u32 *word);
	void (*unlock)(void *queue);
};

/* An osq_lock; a numa_osq in its place. All users of one lock use the same one. */
extern const struct lk_spin_queue lk_spin_over_osq, lk_spin_over_numa_osq;
/*
 * A qspinlock in its place, in mode LK_QSPIN_FAIR or LK_QSPIN_STEAL. A waiter gives up
 * only if the queue does not move though @word is 0. For locks whose waiters never sleep.
 */
extern const struct lk_spin_queue lk_spin_over_qspin[];

/* Hint bit: the owner was seen off its CPU. Stale until the next holder. */
#define LK_OWNER_OFF_CPU (1u << 30)

/*
 * Rounds that an unlock of @lock watches whether a spinner takes it. None if waiters do
 * not spin, or if one saw the holder off its CPU: all spinners stop then.
 */
static inline u32 lk_watch_rounds(const void *lock, const u32 *hint)
{
	u32 owner = READ_ONCE(*hint);

	if (lk_way(lock) != LK_WAY_SPIN)
		return 0;
	if ((int)owner >= 0 && (owner & LK_OWNER_OFF_CPU))
		return 0;
	return handover_spins();
}

/*
 * Whether to watch the lock still makes sense. *@hint is the holder's next_owner();
 * it gets LK_OWNER_OFF_CPU if we find that the holder does not run.
 */
static inline bool lk_owner_may_run(u32 *hint)
{
	u32 owner = READ_ONCE(*hint), rounds;

	for (rounds = 0; rounds < owner_rounds(); rounds++) {
		if ((int)owner < 0)
			return true;
		if (owner & LK_OWNER_OFF_CPU)
			return false;
		if (likely(!owner_is_preempted(owner)))
			return true;
		/* A holder takes the lock first, then leaves its hint. */
		cpu_relax();
		owner = READ_ONCE(*hint);
	}
	/* The hint is the holder's: a new holder's store wins. */
	(void)try_cmpxchg_relaxed(hint, &owner, owner | LK_OWNER_OFF_CPU);
	return false;
}

#endif
