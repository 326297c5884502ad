// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What a condition wait does with its mutex: gives it up wholly, and takes it back. */
#include "mutex_parts.h"

/* Of one that the caller holds: nobody else writes to it. */
static inline void count_users(pthread_mutex_t *pm, u32 change)
{
	u32 *users = &ours(pm)->embed[NUSERS];

	WRITE_ONCE(*users, READ_ONCE(*users) + change);
}

/*
 * glibc's own waits leave the count of users as it is. Its unlock does not; so one more
 * is counted, as long as the words are known: *@counted. Not of a mutex that another
 * thread has, which glibc's unlock may refuse.
 */
static int leave_glibcs(pthread_mutex_t *pm, u32 *counted)
{
	int err;

	*counted = READ_ONCE(pre_plain_types) &&
		   READ_ONCE(ours(pm)->embed[OWNER]) == lkp_tid();
	if (*counted)
		count_users(pm, 1);
	err = pre_reals()->mutex_unlock(pm);
	if (err && *counted)
		count_users(pm, -1u);
	return err;
}

/* Held also if its last owner has died. */
static int enter_glibcs(pthread_mutex_t *pm, u32 counted)
{
	int err = pre_reals()->mutex_lock(pm);

	if (counted && (!err || err == EOWNERDEAD))
		count_users(pm, -1u);
	return err;
}

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
		return leave_glibcs(pm, depth);
	if (!is_plain(kind) && READ_ONCE(m->embed[OWNER]) != lkp_tid())
		return EPERM;
	*depth = m->embed[COUNT];
	m->embed[COUNT] = 0;
	WRITE_ONCE(m->embed[NUSERS], m->embed[NUSERS] + 1);
	if (READ_ONCE(m->embed[OWNER])) {
		/* glibc's own code locked it, and may unlock it another time. */
		if (is_plain(kind))
			WRITE_ONCE(lkp_foreign_unlocks, 1);
		disown(m);
	}
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
		return enter_glibcs(pm, depth);
	if (!take(ours(pm)))
		pre_mutex_lock_contended(ours(pm), NULL);
	pre_mutex_taken(pm, depth);
	return 0;
}

u32 lkp_foreign_unlocks;

bool pre_mutex_lend(pthread_mutex_t *pm)
{
	struct lk_mutex *m = ours(pm);
	u32 kind = kind_of(m);
	bool nobodys = is_plain(kind) && !READ_ONCE(m->embed[OWNER]);

	if (is_glibcs(kind))
		return false;
	/* Before the list's lock: who moves sleepers to it later sees this. */
	WRITE_ONCE(lkp_foreign_unlocks, 1);
	lk_mutex_lend(m);
	return nobodys;
}

void pre_mutex_lent(pthread_mutex_t *pm)
{
	WRITE_ONCE(ours(pm)->embed[OWNER], 0);
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
