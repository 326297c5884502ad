// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* rwlock.h has states, invariants and sources. */
#include "catalogue.h"
#include "rwlock.h"

/* Counted already, though a writer holds. */
__cold void lk_rwlock_read_lock_slow(struct lk_rwlock *lock)
{
	do {
		atomic_sub(LK_RWLOCK_READER, &lock->cnts);
		atomic_cond_read_relaxed(&lock->cnts,
					 !(VAL & LK_RWLOCK_WRITER));
	} while (!lk_rwlock_count_reader(lock));
}

__cold void lk_rwlock_lock_slow(struct lk_rwlock *lock)
{
	do {
		atomic_cond_read_relaxed(&lock->cnts, !VAL);
	} while (!lk_rwlock_trylock(lock));
}

static void init(void *lock)
{
	*(struct lk_rwlock *)lock = (struct lk_rwlock)LK_RWLOCK_INIT;
}

static void lock(void *lock)
{
	lk_rwlock_lock(lock);
}

static bool trylock(void *lock)
{
	return lk_rwlock_trylock(lock);
}

static void unlock(void *lock)
{
	lk_rwlock_unlock(lock);
}

static void lock_read(void *lock)
{
	lk_rwlock_read_lock(lock);
}

static bool trylock_read(void *lock)
{
	return lk_rwlock_read_trylock(lock);
}

static void unlock_read(void *lock)
{
	lk_rwlock_read_unlock(lock);
}

const struct lk_ops lk_rwlock_ops = {
	.name = "rwlock",
	.summary = "reader-count read/write lock: unfair, no queue",
	.size = sizeof(struct lk_rwlock),
	.align = _Alignof(struct lk_rwlock),
	.flags = LK_RW,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
	.read_lock = lock_read,
	.read_trylock = trylock_read,
	.read_unlock = unlock_read,
};
