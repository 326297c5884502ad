/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_KERNEL_TUNING_H
#define LKP_KERNEL_TUNING_H

/*
 * Limits, which are constants here but for the parameters of a sleeping mutex; knobs,
 * which are parameters; events.
 */
#include <atomic.h>
#define LK_LIMIT(name, expert, min, max, user, kernel, check, help) \
	static inline u32 name(void)                                \
	{                                                           \
		return kernel;                                      \
	}
#define LK_PARAM(name, expert, min, max, user, kernel, check, help) \
	extern unsigned int lkp_##name;                             \
	static inline u32 name(void)                                \
	{                                                           \
		return READ_ONCE(lkp_##name);                       \
	}
#include <knobs.def>

#define brief_pause(power) ((void)(power), cpu_relax())
/* Never: give_way() does nothing. */
#define give_way_ns() U64_MAX

#define read_knob(value) READ_ONCE(value)

/* Counted while the key is on. */
DECLARE_STATIC_KEY_FALSE(lkp_counting);
void lkp_count_event(u32 event);
#define count_event(event)                                 \
	do {                                               \
		if (static_branch_unlikely(&lkp_counting)) \
			lkp_count_event(event);            \
	} while (0)

#endif
