// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: past its deadline timedlock says that it gave up, but stays in the queue
 * and has the lock later, for ever.
 * Must be caught by: timed.
 */
#include "timeout.h"

static bool gives_up_and_stays(void *lock, u64 ns)
{
	struct canary *canary = lock;

	if (try_until(canary, ns))
		return true;
	/* wrong: the waiter's place in the queue must go with the waiter */
	WRITE_ONCE(canary->heir, 1);
	return false;
}

TIMEOUT_CANARY(canary_timeout_keeps_ops, "canary_timeout_keeps",
	       "a waiter that timed out stays in the queue",
	       gives_up_and_stays);
