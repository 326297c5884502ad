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
 * What a signal handler may do with a lock, to unlock or to signal, ends with a look at the
 * list. A handler that has interrupted a section of any list waits for none. So it leaves
 * the look to the thread that it interrupted, if it cannot have the list at once.
 *
 * What the locks do not share stays in their files:
 *
 *   - What a look is.
 *   - When the epoch is looked at. mutex and rwsem do so before they use the list, and
 *     the claim has a section of its own: their queue of spinners, which comes before
 *     the list, belongs to the epoch too. cond has nothing but the list, and looks
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
 * has interrupted a section must not come here: it calls the next function.
 */
static inline void *lk_wait_list_lock(void *obj, struct lk_tas *lock)
{
	void *outer = section_enter(obj);

	lk_tas_lock(lock);
	return outer;
}

/*
 * As lk_wait_list_lock(), for a handler that has interrupted a section. False: the list is
 * not locked, and the thread that was interrupted will call @look. What there is to see must
 * be done before: a handler that comes now may look as well, and then nobody does later.
 */
static inline bool lk_wait_list_try_to_look(void *obj, struct lk_tas *lock,
					    u8 *epoch, void (*look)(void *obj),
					    void **outer)
{
	u32 rounds = 0;

	for (;;) {
		/* The epoch is old if another thread is claiming it. */
		if (!in_section(obj) && !lk_epoch_is_old(epoch)) {
			*outer = section_enter(obj);
			if (lk_tas_trylock(lock))
				return true;
			section_exit(*outer);
		}
		if (look_later(obj, look))
			return false;
		cpu_relax_wait(&rounds);
	}
}

static inline void lk_wait_list_unlock(struct lk_tas *lock, void *outer)
{
	lk_tas_unlock(lock);
	section_exit(outer);
}

/*
 * After a fork the list and its lock name threads that are gone in this process. True:
 * the list is empty and its lock is free; the caller clears what else names such threads,
 * then calls lk_epoch_done(). False: another thread has done so, or is doing so: that one is
 * waited for if @waits. A handler that has interrupted a section must not wait.
 */
static inline bool lk_wait_list_claim(u8 *epoch, bool waits,
				      struct lk_ring **first,
				      struct lk_tas *lock)
{
	if (!lk_epoch_claim(epoch, waits))
		return false;
	WRITE_ONCE(*first, NULL);
	WRITE_ONCE(lock->locked, 0);
	return true;
}

#endif
