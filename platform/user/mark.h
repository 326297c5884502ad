/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_MARK_H
#define LKP_MARK_H

/*
 * Objects that begin as zeros and become ours by a mark in one of their words.
 *
 * For x86-64 alone, as the interposer is. There each store is a release. In C11 a thread
 * that finds the mark, and then stores to a field by a relaxed store, need not hand the
 * mark on to the next thread that sees this field.
 *
 * Written from: no text.
 */
#include <platform.h>

/* Puts @mark into *@word, which is 0. True: it is there. */
static inline bool lkp_mark_put(u32 *word, u32 mark)
{
	u32 now = 0;

	/* [mark.A] full RMW, pairs with mark.B: a thread that sees another field of
	 * ours sees the mark. */
	return try_cmpxchg(word, &now, mark) || now == mark;
}

/*
 * Whether the object is ours: *@word has the mark. If the @count words at @words are all
 * 0, the object becomes ours.
 */
static inline bool lkp_mark_adopt(const u32 *words, u32 count, u32 *word,
				  u32 mark)
{
	for (u32 i = 0; i < count; i++) {
		/* [mark.B] ACQUIRE, pairs with mark.A. */
		if (smp_load_acquire(&words[i]))
			return READ_ONCE(*word) == mark;
	}
	return lkp_mark_put(word, mark);
}

#endif
