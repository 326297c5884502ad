/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_STACK_H
#define REC_STACK_H

#include "record.h"

/* Frames of a stack at most. */
#define REC_DEEPEST 48
/*
 * The recorder's own frames, and those of functions that lock for others, before the first
 * one; and one more frame, which says that there is more.
 */
#define REC_UNWOUND (REC_DEEPEST + 8 + REC_WRAPPED + 1)

/* Each acquisition is to have its stack, not the contended ones alone. */
extern bool rec_all_stacks;
/* The unwinder's first call loads it, and must not do that inside of a lock call. */
void rec_stack_prepare(void);
/*
 * The return addresses from @site, a call of the program that led here, outwards; @room is at
 * most REC_UNWOUND. Only @site, if no stacks are wanted. 0: the call is not found.
 */
u32 rec_unwind(void **frame, u32 room, u64 site);

/* Of the stack, so much is read at once, and never across the end of a page. */
#define REC_STACK_WINDOW 1024u
struct rec_window {
	u64 from, bytes;
	u8 of[REC_STACK_WINDOW];
};
/* @bytes at @at of this thread's stack; false: there is no memory. @w is kept for the next one. */
bool rec_stack_read(struct rec_window *w, u64 at, void *to, u32 bytes);

/* Between rec_busy() and rec_idle(): the stack of a call of @s, from that outwards; NULL: none. */
struct rec_stack *rec_stack_of(struct rec_thread *t, struct rec_site *s,
			       enum rec_moment when);
/* A wait is counted for its stack @k; NULL: it is owed to the next stack of its site and kind. */
void rec_stack_count(struct rec_detail *d, struct rec_stack *k, bool is_long,
		     u64 waited);
/* An acquisition that did not wait: its stack is counted. */
__cold void rec_stack_taken(struct rec_thread *t, struct rec_site *s);

#endif
