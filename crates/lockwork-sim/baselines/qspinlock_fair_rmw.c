// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The fair queued lock whose head takes the lock by compare-and-exchange, always:
 * as the kernel's did before its head took it by a store where another waiter is
 * behind it (commit 2c83e8e9492d). All else is qspinlock_fair, line by line: the
 * mode that may be mixed with modes that steal, on a lock where nobody does.
 */
#include "catalogue.h"
#include "qspinlock.h"

static void init(void *lock)
{
	lk_qspin_init(lock);
}

static void lock(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_FAIR);
}

static bool trylock(void *lock)
{
	return lk_qspin_trylock(lock, LK_QSPIN_FAIR);
}

static void unlock(void *lock)
{
	lk_qspin_unlock(lock);
}

const struct lk_ops lk_qspinlock_fair_rmw_ops = {
	.name = "qspinlock_fair_rmw",
	.summary = "qspinlock_fair whose head takes the lock by "
		   "compare-and-exchange",
	.size = sizeof(struct lk_qspin),
	.align = _Alignof(struct lk_qspin),
	.flags = LK_FIFO | LK_FORKS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
