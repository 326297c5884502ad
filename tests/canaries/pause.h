/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef CANARY_PAUSE_H
#define CANARY_PAUSE_H

/*
 * A canary pauses between the two steps that it should do as one, until another
 * thread has done what breaks it. A scheduler may do the same, but rarely does.
 * The other thread may not come: then the canary goes on after PAUSE_TURNS.
 */
#include <catalogue.h>

#define PAUSE_TURNS 4

#define pause_until(cond)                                        \
	do {                                                     \
		for (int i = 0; i < PAUSE_TURNS && !(cond); i++) \
			lkp_yield();                             \
	} while (0)

#endif
