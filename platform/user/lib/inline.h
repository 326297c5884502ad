/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_LIB_INLINE_H
#define LW_LIB_INLINE_H

/*
 * For callers in the same program that inline the fast paths of lockwork.h by
 * themselves, as the Rust crate does. Not part of the public interface: a
 * shared library does not show them.
 */
#include <stdbool.h>
#include <stdint.h>

#include "lockwork/lockwork.h"

/* Waits at most @ns nanoseconds from now. True: held. */
bool lw_mutex_lock_for(lw_mutex_t *m, uint64_t ns);

/* The rest of lw_spin_lock(), whose compare-and-exchange saw @seen. */
void lw_spin_lock_slow(lw_spinlock_t *s, uint32_t seen);

#endif
