// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* lw_rwlock_t: a struct lk_rwsem. */
#include "lib.h"
#include "queue.h"
#include "rwsem.h"

_Static_assert(sizeof(lw_rwlock_t) == sizeof(struct lk_rwsem), "size");
_Static_assert(_Alignof(lw_rwlock_t) == _Alignof(struct lk_rwsem), "alignment");

static struct lk_rwsem *sem_of(lw_rwlock_t *l)
{
	return (struct lk_rwsem *)l;
}

static const struct lk_spin_queue *queue(void)
{
	return lwlib_spin_in_numa_osq() ? &lk_spin_over_numa_osq
					: &lk_spin_over_osq;
}

/* -- readers -------------------------------------------------------------- */

/* The caller has tried once. @deadline NULL: none. */
static bool wait_to_read(struct lk_rwsem *s, enum lk_rwsem_reader how,
			 const struct lkp_deadline *deadline)
{
	return lk_rwsem_read_lock_slow(s, how, deadline, queue()) == 0;
}

void lwlib_read_lock_slow(lw_rwlock_t *l)
{
	wait_to_read(sem_of(l), LK_READER_PASSES, NULL);
}

void lw_read_lock(lw_rwlock_t *l)
{
	if (unlikely(!lk_rwsem_read_trylock(sem_of(l), LK_READER_PASSES)))
		lwlib_read_lock_slow(l);
}

void lw_read_lock_nested(lw_rwlock_t *l)
{
	if (unlikely(!lk_rwsem_read_trylock(sem_of(l), LK_READER_NESTS)))
		wait_to_read(sem_of(l), LK_READER_NESTS, NULL);
}

bool lw_read_trylock(lw_rwlock_t *l)
{
	return lk_rwsem_try_read(sem_of(l), LK_READER_PASSES);
}

bool lw_read_trylock_nested(lw_rwlock_t *l)
{
	return lk_rwsem_try_read(sem_of(l), LK_READER_NESTS);
}

bool lw_read_timedlock(lw_rwlock_t *l, const struct timespec *deadline)
{
	struct lkp_deadline until;

	if (likely(lk_rwsem_read_trylock(sem_of(l), LK_READER_PASSES)))
		return true;
	deadline_at(&until, deadline);
	return wait_to_read(sem_of(l), LK_READER_PASSES, &until);
}

bool lwlib_read_lock_for(lw_rwlock_t *l, uint64_t ns)
{
	struct lkp_deadline until;

	deadline_after(&until, ns);
	return wait_to_read(sem_of(l), LK_READER_PASSES, &until);
}

void lw_read_unlock(lw_rwlock_t *l)
{
	lk_rwsem_read_unlock(sem_of(l));
}

/* -- writers -------------------------------------------------------------- */

static bool wait_to_write(struct lk_rwsem *s,
			  const struct lkp_deadline *deadline)
{
	return lk_rwsem_lock_slow(s, deadline, queue()) == 0;
}

void lwlib_write_lock_slow(lw_rwlock_t *l)
{
	wait_to_write(sem_of(l), NULL);
}

void lw_write_lock(lw_rwlock_t *l)
{
	if (unlikely(!lk_rwsem_lock_fast(sem_of(l))))
		lwlib_write_lock_slow(l);
}

bool lw_write_trylock(lw_rwlock_t *l)
{
	return lk_rwsem_try_write(sem_of(l));
}

bool lw_write_timedlock(lw_rwlock_t *l, const struct timespec *deadline)
{
	struct lkp_deadline until;

	if (likely(lk_rwsem_trylock(sem_of(l))))
		return true;
	deadline_at(&until, deadline);
	return wait_to_write(sem_of(l), &until);
}

bool lwlib_write_lock_for(lw_rwlock_t *l, uint64_t ns)
{
	struct lkp_deadline until;

	deadline_after(&until, ns);
	return wait_to_write(sem_of(l), &until);
}

void lw_write_unlock(lw_rwlock_t *l)
{
	lk_rwsem_unlock(sem_of(l));
}

void lw_write_downgrade(lw_rwlock_t *l)
{
	lk_rwsem_downgrade(sem_of(l));
}
