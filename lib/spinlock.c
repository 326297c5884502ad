// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* lw_spinlock_t: a struct lk_qspin, in one mode for the whole process. */
#include "lib.h"
#include "qspinlock.h"

#include <errno.h>

_Static_assert(sizeof(lw_spinlock_t) == sizeof(struct lk_qspin), "size");
_Static_assert((int)LW_SPIN_AUTO == (int)LK_QSPIN_AUTO, "modes");

static struct lk_qspin *spin_of(lw_spinlock_t *s)
{
	return (struct lk_qspin *)s;
}

u32 lwlib_spin_mode = LK_QSPIN_AUTO;

int lw_spin_set_mode(enum lw_spin_mode mode)
{
	/* Above the last one is a mode that the others must not be mixed with. */
	if ((u32)mode > (u32)LW_SPIN_AUTO)
		return EINVAL;
	WRITE_ONCE(lwlib_spin_mode, (u32)mode);
	return 0;
}

void lw_spin_lock(lw_spinlock_t *s)
{
	lk_qspin_lock(spin_of(s), READ_ONCE(lwlib_spin_mode));
}

void lwlib_spin_lock_slow(lw_spinlock_t *s, uint32_t seen)
{
	lk_qspin_lock_slow(spin_of(s), seen, READ_ONCE(lwlib_spin_mode));
}

bool lw_spin_trylock(lw_spinlock_t *s)
{
	return lk_qspin_trylock(spin_of(s), READ_ONCE(lwlib_spin_mode));
}

void lw_spin_unlock(lw_spinlock_t *s)
{
	lk_qspin_unlock(spin_of(s));
}
