/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LWLIB_H
#define LWLIB_H

/* Shared by the files of the library. */
#include "internal.h"
/* All that a shared library shows. */
#pragma GCC visibility push(default)
#include "lockwork/lockwork.h"
#pragma GCC visibility pop

/*
 * @until is @time, on CLOCK_MONOTONIC; nanoseconds may be out of their range. What is
 * beyond time_t is its end.
 */
static inline void deadline_at(struct lkp_deadline *until,
			       const struct timespec *time)
{
	long carry = time->tv_nsec / 1000000000;
	long rest = time->tv_nsec % 1000000000;

	if (rest < 0) {
		rest += 1000000000;
		carry--;
	}
	until->clock = CLOCK_MONOTONIC;
	until->nsec = rest;
	if (__builtin_add_overflow(time->tv_sec, carry, &until->sec))
		until->sec = carry < 0 ? INT64_MIN : INT64_MAX;
}

/*
 * For callers in the same program that inline the fast paths of lockwork.h by
 * themselves, as the Rust crate does. Not part of the public interface.
 */

/* The rest of lw_mutex_lock(), whose compare-and-exchange failed. */
void lwlib_mutex_lock_slow(lw_mutex_t *m);
/* Waits at most @ns nanoseconds from now. True: held. */
bool lwlib_mutex_lock_for(lw_mutex_t *m, uint64_t ns);
/* lw_cond_timedwait() for at most @ns nanoseconds from now. */
bool lwlib_cond_wait_for(lw_cond_t *c, lw_mutex_t *m, uint64_t ns);
/* The rest of lw_read_lock() and lw_write_lock(), which did not get it at once. */
void lwlib_read_lock_slow(lw_rwlock_t *l);
void lwlib_write_lock_slow(lw_rwlock_t *l);
/* The same for at most @ns nanoseconds from now. True: held. */
bool lwlib_read_lock_for(lw_rwlock_t *l, uint64_t ns);
bool lwlib_write_lock_for(lw_rwlock_t *l, uint64_t ns);
/* The rest of lw_spin_lock(), whose compare-and-exchange saw @seen. */
void lwlib_spin_lock_slow(lw_spinlock_t *s, uint32_t seen);
/* The mode of all spinlocks of the process: an enum lw_spin_mode. */
extern uint32_t lwlib_spin_mode;

#endif
