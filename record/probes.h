/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_PROBES_H
#define REC_PROBES_H

/*
 * The recorder's USDT probes are those of the interposer, at the same places. What the next
 * definition fires itself is in another file, which is another probe for those who listen.
 */
#include "record.h"

#include "usdt.h"

/*
 * The caller holds a recursive mutex more than once: no probe says that it has got it, or
 * given it up. Its words are read plainly, so that without probes nothing is read.
 */
static inline bool rec_is_nested(const pthread_mutex_t *m)
{
	return (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP &&
	       m->__data.__count > 1;
}

#endif
