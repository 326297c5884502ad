/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_KNOBS_H
#define LK_KNOBS_H

/*
 * Controls of the locks. Each is one u32 that slow paths read by knob(name), and
 * that each world lets its users set, within limits: knobs.def lists them.
 */
#include <platform.h>

struct lk_knob {
	const char *name;
	const char *help;  /* one line, says the unit */
	const char *words; /* "a,b,c": names of 0, 1, 2; NULL: a number */
	u32 min, max, dflt;
	u32 expert; /* 1: for measurements and for those who know the locks */
	u32 *value;
};

#define LK_KNOB(name, min, max, dflt, words, help) extern u32 lk_knob_##name;
#include <knobs.def>

/* All of them, ended by one whose name is NULL. */
extern const struct lk_knob lk_knobs[];

/* Its value now; may change at any time. */
#define knob(name) read_knob(lk_knob_##name)

#endif
