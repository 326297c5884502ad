/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_USER_H
#define LW_USER_H

/*
 * What the user world offers its hosts (the library, the interposer, the
 * lab) beside the primitives of platform.h: knobs, and a way to shrink
 * resources so that tests can reach their ends.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One run-time knob. Values are unsigned; words (fair, steal …) have numbers. */
struct lw_knob {
	const char *name;
	const char *help; /* one line, says the unit */
	const char
		*words; /* "fair,steal,tas" for values 0,1,2; NULL: a number */
	uint32_t min, max, dflt;
	uint32_t *value; /* the locks read this in their slow paths only */
};

/* All knobs, ended by one whose name is NULL. */
extern const struct lw_knob lw_user_knobs[];

/*
 * Sets knob @name from text @value. Returns 0, -ENOENT (no such knob) or
 * -ERANGE (not a value of this knob; nothing changed).
 */
int lw_user_knob_set(const char *name, const char *value);

/* At most @n thread slots (1 … 16383) from now on; threads past it have none. */
void lw_user_limit_slots(uint32_t n);
/* How many slots are taken now. */
uint32_t lw_user_slots_in_use(void);

#endif
