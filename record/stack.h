/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_STACK_H
#define REC_STACK_H

#include "record.h"

/* Frames of a stack at most. */
#define REC_DEEPEST 48

/*
 * The return addresses from @site, a call of the program that led here, outwards; @room is at
 * most REC_DEEPEST. 0: the call is not found.
 */
u32 rec_unwind(void **frame, u32 room, u64 site);

#endif
