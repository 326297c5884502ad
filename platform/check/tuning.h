/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_CHECK_TUNING_H
#define LKP_CHECK_TUNING_H

/* Limits and knobs as the client sets them; events, at which it may act. */
#include <thread.h>
u32 check_world_read(const u32 *field);

#define LK_LIMIT(name, expert, min, max, user, kernel, check, help) \
	static inline u32 name(void)                                \
	{                                                           \
		return check_world_read(&check_world.name);         \
	}
#include <knobs.def>

#define brief_pause(power) \
	((void)(power), lwc_round(__lwc_site("brief_pause", "")))
#define give_way_ns() ((u64)0)

/* A mutant may not look at it: 1. */
#define read_knob(value)                          \
	(lwc_left_out(__lwc_site("knob", #value)) \
		 ? 1                              \
		 : check_world_read(&(value)))
/* A client may do something there. */
#define count_event(event) at_event(event)
void at_event(u32 event);

#endif
