/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LWS_CONDITION_H
#define LWS_CONDITION_H

/*
 * locks/cond.h for simulated programs, whose lock may be any of the catalogue. The caller
 * unlocks between enqueue() and sleep(), and locks after a relock() that returned false.
 */
#include "catalogue.h"

struct lws_condition {
	u32 size;	 /* bytes of a condition variable; all 0 is a new one */
	u32 waiter_size; /* bytes of what a waiter has on its stack */

	/* @lock is held; @ops is its struct lk_ops. */
	void (*enqueue)(void *condition, void *waiter, void *lock,
			const void *ops);
	void (*sleep)(void *waiter);
	/* True: the lock is held. */
	bool (*relock)(void *waiter);
	/* The lock is held. */
	void (*done)(void *waiter);
	void (*signal)(void *condition);
};

extern const struct lws_condition lws_condition;

#endif
