/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_USER_TUNING_H
#define LKP_USER_TUNING_H

/*
 * Limits, knobs and events of the user world. All are knobs here: knobs.c has the
 * table that users see.
 */
#include <atomic.h>
/* Each limit of knobs.def is a variable and a function that reads it. */
#define LK_LIMIT(name, expert, min, max, user, kernel, check, help) \
	extern u32 lk_limit_##name;                                 \
	static inline u32 name(void)                                \
	{                                                           \
		return READ_ONCE(lk_limit_##name);                  \
	}
#include <knobs.def>

/* What comes after a look at a lock, of brief_spins(), rwsem_looks() or steal_rounds(). */
static inline void brief_pause(u32 power)
{
	u32 pauses = power < 5 ? 1u << power : 32;

	while (pauses--)
		cpu_relax();
}

/* How long a sleeper must have waited for its waker to give way to it. */
extern u32 lkp_give_way_us, lkp_turn_us, lkp_stall_us;
#define give_way_ns() (READ_ONCE(lkp_give_way_us) * (u64)1000)

/* A knob of locks/knobs.h. */
#define read_knob(value) READ_ONCE(value)

/* An event of locks/events.h, counted if somebody asked for that. */
extern u32 lkp_count_events;
__cold void lkp_count_event(u32 event);
static inline void count_event(u32 event)
{
	if (unlikely(READ_ONCE(lkp_count_events)))
		lkp_count_event(event);
}

#endif
