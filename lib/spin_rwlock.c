// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* lw_spin_rwlock_t: a struct lk_qrw. */
#include "lib.h"
#include "qrwlock.h"

_Static_assert(sizeof(lw_spin_rwlock_t) == sizeof(struct lk_qrw), "size");

static struct lk_qrw *rw_of(lw_spin_rwlock_t *l)
{
	return (struct lk_qrw *)l;
}

void lw_spin_read_lock(lw_spin_rwlock_t *l)
{
	lk_qrw_read_lock(rw_of(l));
}

bool lw_spin_read_trylock(lw_spin_rwlock_t *l)
{
	return lk_qrw_read_trylock(rw_of(l));
}

void lw_spin_read_unlock(lw_spin_rwlock_t *l)
{
	lk_qrw_read_unlock(rw_of(l));
}

void lw_spin_write_lock(lw_spin_rwlock_t *l)
{
	lk_qrw_lock(rw_of(l));
}

bool lw_spin_write_trylock(lw_spin_rwlock_t *l)
{
	return lk_qrw_trylock(rw_of(l));
}

void lw_spin_write_unlock(lw_spin_rwlock_t *l)
{
	lk_qrw_unlock(rw_of(l));
}
