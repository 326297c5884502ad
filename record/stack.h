/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_STACK_H
#define REC_STACK_H

#include "record.h"

/* Frames of a stack at most. */
#define REC_DEEPEST 48

/* The unwinder's first call loads it, and must not do that inside of a lock call. */
void rec_stack_prepare(void);
/*
 * The return addresses from @site, a call of the program that led here, outwards; @room is at
 * most REC_DEEPEST. Only @site, if no stacks are wanted. 0: the call is not found.
 */
u32 rec_unwind(void **frame, u32 room, u64 site);

#endif
