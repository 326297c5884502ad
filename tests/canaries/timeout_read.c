// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: a read wait gives up at once, whatever its deadline. Readers exclude each
 * other, which nobody forbids.
 * Must be caught by: timed.
 */
#include "timeout.h"

static bool in_time(void *lock, u64 ns)
{
	return try_until(lock, ns);
}

static bool gives_up_at_once(void *lock, u64 ns)
{
	(void)ns; /* wrong */
	return trylock(lock);
}

const struct lk_ops canary_timeout_read_ops = {
	.name = "canary_timeout_read",
	.summary = "broken: a timed read wait does not wait",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.flags = LK_RW,
	.init = init,
	.lock = lock,
	.unlock = unlock,
	.trylock = trylock,
	.timedlock = in_time,
	.read_lock = lock,
	.read_unlock = unlock,
	.read_trylock = trylock,
	.read_timedlock = gives_up_at_once,
};
