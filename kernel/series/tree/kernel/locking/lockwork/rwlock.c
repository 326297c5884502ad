// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The queued read/write lock behind rwlock_t. A reader in an interrupt, or with softirqs
 * off, may be one that interrupted a reader: it passes writers that wait, as the
 * kernel's own lock lets it.
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>
#include <trace/events/lock.h>

#include "qrwlock.h"

static_assert(sizeof(struct qrwlock) == sizeof(struct lk_qrw) &&
	      offsetof(struct qrwlock, wait_lock) ==
		      offsetof(struct lk_qrw, queue));

static inline struct lk_qrw *ours(struct qrwlock *lock)
{
	return (struct lk_qrw *)lock;
}

bool __lockfunc queue_read_trylock(struct qrwlock *lock)
{
	return lk_qrw_read_trylock(ours(lock));
}
EXPORT_SYMBOL(queue_read_trylock);

void __lockfunc queue_read_lock(struct qrwlock *lock)
{
	if (likely(lk_qrw_read_trylock(ours(lock))))
		return;
	trace_contention_begin(lock, LCB_F_SPIN | LCB_F_READ);
	if (unlikely(in_interrupt()))
		lk_qrw_read_lock_nested(ours(lock));
	else
		lk_qrw_read_lock(ours(lock));
	trace_contention_end(lock, 0);
}
EXPORT_SYMBOL(queue_read_lock);

void __lockfunc queue_read_unlock(struct qrwlock *lock)
{
	lk_qrw_read_unlock(ours(lock));
}
EXPORT_SYMBOL(queue_read_unlock);

bool __lockfunc queue_write_trylock(struct qrwlock *lock)
{
	return lk_qrw_trylock(ours(lock));
}
EXPORT_SYMBOL(queue_write_trylock);

void __lockfunc queue_write_lock(struct qrwlock *lock)
{
	if (likely(lk_qrw_take_free(ours(lock))))
		return;
	trace_contention_begin(lock, LCB_F_SPIN | LCB_F_WRITE);
	lk_qrw_lock_slow(ours(lock));
	trace_contention_end(lock, 0);
}
EXPORT_SYMBOL(queue_write_lock);

void __lockfunc queue_write_unlock(struct qrwlock *lock)
{
	lk_qrw_unlock(ours(lock));
}
EXPORT_SYMBOL(queue_write_unlock);
