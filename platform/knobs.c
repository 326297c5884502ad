// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "knobs.h"

#define LK_KNOB(name, min, max, dflt, words, help) \
	u32 lk_knob_##name __read_mostly = dflt;
#include <knobs.def>

const struct lk_knob lk_knobs[] = {
#define LK_KNOB(name, min, max, dflt, words, help) \
	{ #name, help, words, min, max, dflt, 0, &lk_knob_##name },
#include <knobs.def>
	{ .name = NULL },
};
