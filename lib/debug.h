/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LWLIB_DEBUG_H
#define LWLIB_DEBUG_H

/*
 * LOCKWORK_DEBUG: checks of the use of mutexes. @site is where the program
 * called. What is wrong is printed, and the process aborts.
 */
#include "mutex.h"
#include "waits.h"

/* Set before main. */
extern bool lwlib_debug;

/* The caller has taken @m. */
void lwlib_debug_locked(struct lk_mutex *m, const void *site);
/* The caller is about to wait for @m without a limit. */
void lwlib_debug_check_lock(const struct lk_mutex *m);
/* The caller is about to unlock @m. */
void lwlib_debug_check_unlock(struct lk_mutex *m);
/*
 * Whether the caller seems to hold @m. Rust's inlined calls do not note who locks and unlocks, so
 * that may be old news for a moment.
 */
bool lwlib_debug_seems_mine(const struct lk_mutex *m);
void lwlib_debug_check_destroy(const struct lk_mutex *m);

/* What a wait has interrupted, if a signal handler waits. */
struct lwlib_debug_wait {
	struct lkp_wait *own;
	const void *object,
		*site; /* of the wait that a handler has interrupted */
	bool claimed;
};

/*
 * Around a wait without a limit, for a mutex that was not free. The first says
 * if this wait closes a circle.
 */
void lwlib_debug_wait_begin(struct lwlib_debug_wait *wait, struct lk_mutex *m,
			    const void *site);
void lwlib_debug_wait_end(struct lwlib_debug_wait *wait);

/* debug.c, for deadlock.c */
u32 lwlib_debug_tid(void);
u32 lwlib_debug_owner(const struct lk_mutex *m);
/*
 * In debug mode the owner hint is the holder's thread id with bit 31 set. 0: not
 * known, because the holder has not written it yet or inlined the fast path.
 */
static inline u32 lwlib_debug_holder(u32 hint)
{
	return hint >> 31 ? hint & ~(1u << 31) : 0;
}

#endif
