/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PRE_WORDS_H
#define PRE_WORDS_H

/*
 * Where a mutex and a spinlock have glibc's words, and how they show that an
 * object is glibc's. Only the kind is fixed by the ABI: static initializers put
 * it, 0 to 3, into the program. probe.c tries the rest out.
 */
#include "preload.h"

#include "mutex.h"

/* A mutex: indices of embed[]. */
enum { COUNT, OWNER, NUSERS, KIND };

#define KIND_TYPE    3u
#define KIND_ELISION 0x300u /* lock elision, wanted or not; we have none */
/* Robust, PI, PP, shared, destroyed (-1), and what we do not know. */
#define KIND_GLIBCS (~(KIND_TYPE | KIND_ELISION))

_Static_assert(sizeof(struct lk_mutex) == sizeof(pthread_mutex_t), "size");
_Static_assert(offsetof(struct lk_mutex, embed[KIND]) ==
		       offsetof(pthread_mutex_t, __data.__kind),
	       "kind");

/*
 * A spinlock that is ours has bit 15 set. glibc has 1 for a free one, 0 for a
 * held one, and as many below 0 as other threads spin. Its first 32768 negative
 * numbers have bit 15 set too, but with a tail (slot 16383, level 3) that ours
 * reaches only with 16383 threads and four nested locks.
 */
static inline bool spin_is_glibcs(u32 val, u32 tag)
{
	return !(val & tag) || val >= 0xffff8000u;
}

#endif
