// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* toy_lock.h has states and invariants. */
#include "catalogue.h"
#include "toy_lock.h"

static void init(void *lock)
{
	*(struct lk_toy *)lock = (struct lk_toy){ 0 };
}

static void lock(void *lock)
{
	lk_toy_lock(lock);
}

static void unlock(void *lock)
{
	lk_toy_unlock(lock);
}

const struct lk_ops lk_toy_ops = {
	.name = "toy_lock",
	.summary = "the pattern of a new lock: unfair, no queue",
	.size = sizeof(struct lk_toy),
	.align = _Alignof(struct lk_toy),
	.flags = LK_FORKS,
	.init = init,
	.lock = lock,
	.unlock = unlock,
};
