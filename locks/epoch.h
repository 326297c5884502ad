/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_EPOCH_H
#define LK_EPOCH_H

/*
 * The fork epoch of a lock that names its waiters by memory or by slot. In a
 * forked child they are gone; the first thread to use the lock there cleans it.
 *
 *   old --claim--> today|BUSY --done--> today
 *
 * A claim of an older epoch is that of a thread which is gone as well, so it is
 * claimed anew. Seven bits: after 128 generations of forks with no slow path of
 * this lock in between, an old epoch is taken for today's.
 *
 * Written from: no text; the kernel has nothing like it.
 */
#include <platform.h>

#define LK_EPOCH_BUSY 0x80u
#define LK_EPOCH_MASK 0x7fu

static inline u8 lk_epoch_today(void)
{
	return wait_epoch() & LK_EPOCH_MASK;
}

static inline bool lk_epoch_is_old(u8 *epoch)
{
	/* [epoch.A] ACQUIRE, pairs with epoch.B: see the clean fields. */
	return unlikely(smp_load_acquire(epoch) != lk_epoch_today());
}

/*
 * True: the caller cleans the lock and calls lk_epoch_done(). False: another thread has done
 * so; or, unless @waits, is doing so.
 */
static inline bool lk_epoch_claim(u8 *epoch, bool waits)
{
	u8 today = lk_epoch_today(), busy = today | LK_EPOCH_BUSY, seen;

	for (;;) {
		/* [epoch.A] */
		seen = smp_load_acquire(epoch);
		if (waits && seen == busy)
			/* [epoch.A] */
			seen = smp_cond_load_acquire(epoch, VAL != busy);
		if (seen == today || seen == busy)
			return false;
		/* Orders nothing: the cleaner reads nothing that was there. */
		if (try_cmpxchg_relaxed(epoch, &seen, busy))
			return true;
	}
}

static inline void lk_epoch_done(u8 *epoch)
{
	/* [epoch.B] RELEASE, pairs with epoch.A. */
	smp_store_release(epoch, lk_epoch_today());
}

#endif
