// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: past its deadline timedlock says that it has the lock.
 * Must be caught by: timed.
 */
#include "timeout.h"

static bool times_out_with_success(void *lock, u64 ns)
{
	try_until(lock, ns);
	return true; /* wrong: whatever try_until() said */
}

TIMEOUT_CANARY(canary_timeout_late_ops, "canary_timeout_late",
	       "a timed wait succeeds though it timed out",
	       times_out_with_success);
