// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What a condition wait does with its mutex: gives it up wholly, and takes it back. */
#include "mutex_parts.h"

/*
 * Gives the mutex up for a wait, whatever its depth, which goes to *@depth.
 * It counts as in use meanwhile: destroy says EBUSY.
 */
int pre_mutex_leave(pthread_mutex_t *pm, u32 *depth)
{
	struct lk_mutex *m = ours(pm);
	u32 kind = kind_of(m);

	*depth = 0;
	if (is_glibcs(kind))
		return __pthread_mutex_unlock(pm);
	if (!is_plain(kind) && READ_ONCE(m->embed[OWNER]) != lkp_tid())
		return EPERM;
	*depth = m->embed[COUNT];
	m->embed[COUNT] = 0;
	WRITE_ONCE(m->embed[NUSERS], m->embed[NUSERS] + 1);
	if (READ_ONCE(m->embed[OWNER]))
		disown(m);
	give(m);
	return 0;
}

/* It is the caller's again, as deep as it was. */
void pre_mutex_taken(pthread_mutex_t *pm, u32 depth)
{
	struct lk_mutex *m = ours(pm);

	WRITE_ONCE(m->embed[NUSERS], m->embed[NUSERS] - 1);
	if (!is_plain(kind_of(m))) {
		own(m, lkp_tid());
		m->embed[COUNT] = depth;
	}
}

int pre_mutex_enter(pthread_mutex_t *pm, u32 depth)
{
	if (is_glibcs(kind_of(ours(pm))))
		return __pthread_mutex_lock(pm);
	if (!take(ours(pm)))
		pre_mutex_lock_contended(ours(pm), NULL);
	pre_mutex_taken(pm, depth);
	return 0;
}

struct lk_mutex *pre_mutex_to_move_to(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);
	u32 kind = kind_of(m);

	if (is_glibcs(kind))
		return NULL;
	return READ_ONCE(m->embed[OWNER]) == (is_plain(kind) ? 0 : lkp_tid())
		       ? m
		       : NULL;
}
