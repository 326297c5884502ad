/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_WAIT_LIST_H
#define LK_WAIT_LIST_H

/*
 * A lock's wait list: the ring of its sleepers (wait_ring.h), the byte lock that
 * guards it, and the fork epoch that both belong to (epoch.h). The three are fields
 * of the lock, in places that its layout fixes, so each call names those it uses.
 *
 *   free --lock--> held --unlock--> free
 *   a fork, in the child: old epoch --claim--> empty and free, --lk_epoch_done()--> today's
 *
 * What the locks do not share stays in their files:
 *
 *   - What a signal handler leaves to be done, when lk_wait_list_unlock() is true.
 *   - When the epoch is looked at. mutex and rwsem do so before they use the list, and
 *     the claim has a section of its own: their queue of spinners, which comes before
 *     the list, belongs to the epoch too. Tries of rwsem do so as well, which handlers
 *     may make, so it asks in_section() first. cond has nothing but the list, and looks
 *     at the epoch in each section of that.
 *   - mutex_xchg has no sections: it is not for signal handlers, and they would slow the
 *     baseline down. It uses the claim alone.
 *
 * Written from: epoch.h and tas_lock.h, which have the orderings.
 */
#include "epoch.h"
#include "tas_lock.h"
#include "wait_ring.h"

/*
 * Locks the list of @obj. Returns what lk_wait_list_unlock() wants. A signal handler that
 * has interrupted such a section must not come here, because it would wait for its own
 * thread: it asks in_section().
 */
static inline void *lk_wait_list_lock(void *obj, struct lk_tas *lock)
{
	void *outer = section_enter(obj);

	lk_tas_lock(lock);
	return outer;
}

/* True: a signal handler could not use the list, and left its work to the caller. */
static inline bool lk_wait_list_unlock(struct lk_tas *lock, void *outer)
{
	lk_tas_unlock(lock);
	return section_exit(outer);
}

/*
 * After a fork the list and its lock name threads that are gone in this process. True:
 * the list is empty and its lock is free; the caller clears what else names such threads,
 * then calls lk_epoch_done(). False: another thread has done so. That one is waited for: a
 * handler must not wait so for the thread that it interrupted.
 */
static inline bool lk_wait_list_claim(u8 *epoch, struct lk_ring **first,
				      struct lk_tas *lock)
{
	if (!lk_epoch_claim(epoch))
		return false;
	WRITE_ONCE(*first, NULL);
	WRITE_ONCE(lock->locked, 0);
	return true;
}

#endif
