/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_ADAPT_H
#define LK_ADAPT_H

/*
 * How the sleeping locks choose, lock by lock, the way in which their threads wait.
 *
 *   SPIN   a waiter spins as long as the holder may run, then sleeps. Best if there
 *          is a CPU for each thread.
 *   SLEEP  it sleeps at once. Best if holders leave their CPU inside, or if the
 *          section's data stays in one cache so.
 *   REST   it sleeps at once, and unlocks wake nobody. The first sleeper wakes itself
 *          after rest_us() and competes. Meanwhile the threads that are awake pass the
 *          lock around among themselves, mostly one to itself: its line and the
 *          section's data stay in one cache. Best for short sections and short times
 *          between them.
 *
 * The way with the most acquisitions per time is used: adapt_choice.h. The count of
 * acquisitions is part of the holder's hint, see next_owner(). Where a world has no
 * such count, or limit wait_way() is not 0, nothing is learned.
 *
 * What was learned is in a table of this process, by a hash of the lock's address. An
 * entry belongs to one lock; another one takes it over when that one is no longer
 * contended. Threads read an entry's way without synchronisation, and each for itself:
 * any mix of ways at any time must be correct, and the clients of the locks show it.
 *
 * Sources: that few threads should circulate and the others sleep, for a time, from
 * Dice, "Malthusian Locks", EuroSys 2017. The measuring is this file's own.
 */
#include "adapt_choice.h"

/* The values of limit wait_way(): 0, or a way plus 1. */
#define LK_WAY_ADAPTS 0u

u32 lk_adapt_way(const void *lock);
bool lk_adapt_is_on_trial(const void *lock);
void lk_adapt_look(const void *lock, u32 hint, u32 ways);
/* The same at the time @at, in units of 1,024 ns. */
void lk_adapt_look_at(const void *lock, u32 hint, u32 ways, u32 at);

/* In which way threads wait for @lock now: enum lk_way. */
static inline u32 lk_way(const void *lock)
{
	u32 fixed = wait_way();

	return fixed ? fixed - 1 : lk_adapt_way(lock);
}

/* Whether the present way is not the best one so far, but on trial. */
static inline bool lk_way_is_on_trial(const void *lock)
{
	return wait_way() == LK_WAY_ADAPTS && lk_adapt_is_on_trial(lock);
}

/*
 * To be called by threads that wait, now and then: ends a window that has lasted long
 * enough. @hint is the holder's; @ways: how many of enum lk_way the lock has.
 */
static inline void lk_way_look(const void *lock, u32 hint, u32 ways)
{
	if (wait_way() == LK_WAY_ADAPTS)
		lk_adapt_look(lock, hint, ways);
}

/*
 * wait_on_value() for a sleeper while a way is on trial (@deadline NULL: never): wakes
 * after trial_us(), to look, as lk_way_look() does. Else nobody might: all sleep but one,
 * which is never contended. Each sleeper does so up to trial_naps() times.
 */
static inline int lk_way_watch(const void *lock, const u32 *hint, u32 ways,
			       u32 *word, u32 val,
			       const struct lkp_deadline *deadline)
{
	u64 ns = trial_us() * (u64)1000;
	struct lkp_deadline end;
	int err = 0;

	if (deadline && deadline_within(deadline, ns)) {
		err = wait_on_value(word, val, deadline, NO_NAPS);
	} else {
		deadline_after(&end, ns);
		(void)wait_on_value(word, val, &end, NO_NAPS);
	}
	lk_way_look(lock, READ_ONCE(*hint), ways);
	return err;
}

#endif
