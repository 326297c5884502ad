// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: past its deadline timedlock says that it gave up, but stays in line
 * and has the lock later, for ever.
 * Must be caught by: timed.
 */
#include "timeout.h"
#include <pthread.h>

static void *stay_in_line(void *canary)
{
	lock(canary);
	return NULL;
}

static bool gives_up_and_stays(void *lock, u64 ns)
{
	pthread_t ghost;

	if (try_until(lock, ns))
		return true;
	/* wrong: the waiter's place in line must go with the waiter */
	if (!pthread_create(&ghost, NULL, stay_in_line, lock))
		pthread_detach(ghost);
	return false;
}

TIMEOUT_CANARY(canary_timeout_keeps_ops, "canary_timeout_keeps",
	       gives_up_and_stays);
