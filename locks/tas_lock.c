// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "catalogue.h"
#include "tas_lock.h"

static void init(void *lock)
{
	*(struct lk_tas *)lock = (struct lk_tas){ 0 };
}

static void lock(void *lock)
{
	lk_tas_lock(lock);
}

static bool trylock(void *lock)
{
	return lk_tas_trylock(lock);
}

static void unlock(void *lock)
{
	lk_tas_unlock(lock);
}

const struct lk_ops lk_tas_ops = {
	.name = "tas_lock",
	.summary = "test-and-set byte lock: unfair, no queue",
	.size = sizeof(struct lk_tas),
	.align = _Alignof(struct lk_tas),
	.flags = LK_FORKS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
