/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_SIM_TUNING_H
#define LKP_SIM_TUNING_H

/* Limits as in the kernel; knobs, which are set between simulations; events. */
#include <atomic.h>
#define LK_LIMIT(name, expert, min, max, user, kernel, check, help) \
	static inline u32 name(void)                                \
	{                                                           \
		return kernel;                                      \
	}
#include <knobs.def>

#define brief_pause(power) ((void)(power), cpu_relax())
#define give_way_ns()	   UINT64_MAX

/* To read a knob costs nothing. */
u32 lws_knob(const u32 *knob);
#define read_knob(value)   lws_knob(&(value))
#define count_event(which) lws.event(which)

#endif
