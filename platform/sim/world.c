// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the simulator sets; atomic.h says who calls it. */
#include <platform.h>

/* Constant only to the locks: what the compiler takes for that is no plain access. */
static struct lws_calls calls;
extern const struct lws_calls lws __attribute__((alias("calls")));

/* Not in line: so it is no plain access of a lock. */
u32 lws_knob(const u32 *knob)
{
	return *knob;
}
