/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef CHECK_TRIAL_H
#define CHECK_TRIAL_H

#include "frame.h"
#include "mutex.h"

/*
 * For init(): way SLEEP is on trial for @lock, which has @ways. The window begins at 0,
 * where time stands still.
 */
static inline void begin_trial(const void *lock, u32 ways)
{
	u32 at = 0u - (adapt_first() + 1) * adapt_window(), hint = 0;

	check_world.wait_way = LK_WAY_ADAPTS;
	/* A time just before 0 would come late for an entry that nobody has used. */
	lk_adapt_look_at(lock, hint, ways, 0u - (1u << 25));
	lk_adapt_look_at(lock, hint, ways, at);
	while (at) {
		at += adapt_window();
		hint += 1u << 8;
		lk_adapt_look_at(lock, hint, ways, at);
	}
	CHECK(lk_way_is_on_trial(lock) && lk_way(lock) == LK_WAY_SLEEP,
	      "no way is on trial");
}

/* A thread ends the trial. */
static inline void end_trial(const void *lock, u32 ways)
{
	lk_adapt_look_at(lock, 0, ways, 1u << 30);
}

#endif
