// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The slow paths of qrwlock.h: states, invariants and sources stand there. */
#include "catalogue.h"
#include "qrwlock.h"

__cold void lk_qrw_read_lock_slow(struct lk_qrw *lock)
{
	/* Not counted while queued: a writer before us waits for 0 readers. */
	atomic_sub(LK_QRW_READER, &lock->cnts);

	lk_qspin_lock(&lock->queue, LK_QSPIN_ONLY_FAIR);
	atomic_add(LK_QRW_READER, &lock->cnts);
	/* [qrwlock.E] ACQUIRE, pairs with qrwlock.B. Only a holder is waited
	 * for: a waiting writer would have to be at the head, and we are. */
	atomic_cond_read_acquire(&lock->cnts, !(VAL & LK_QRW_WRITER));
	lk_qspin_unlock(&lock->queue);
}

__cold void lk_qrw_lock_slow(struct lk_qrw *lock)
{
	u32 cnts;

	lk_qspin_lock(&lock->queue, LK_QSPIN_ONLY_FAIR);
	if (!lk_qrw_trylock(lock)) {
		/* From here on arrivals queue behind us; readers drain. */
		atomic_or(LK_QRW_WAITING, &lock->cnts);
		do {
			cnts = atomic_cond_read_relaxed(
				&lock->cnts, (u32)VAL == LK_QRW_WAITING);
			/* [qrwlock.D] */
		} while (!atomic_try_cmpxchg_acquire(&lock->cnts, &cnts,
						     LK_QRW_WRITER));
	}
	lk_qspin_unlock(&lock->queue);
}

static void init(void *lock)
{
	lk_qrw_init(lock);
}

static void lock(void *lock)
{
	lk_qrw_lock(lock);
}

static bool trylock(void *lock)
{
	return lk_qrw_trylock(lock);
}

static void unlock(void *lock)
{
	lk_qrw_unlock(lock);
}

static void lock_read(void *lock)
{
	lk_qrw_read_lock(lock);
}

static bool trylock_read(void *lock)
{
	return lk_qrw_read_trylock(lock);
}

static void unlock_read(void *lock)
{
	lk_qrw_read_unlock(lock);
}

/* The queue's word: whoever waits holds or queues on it. */
static u64 last_waiter(const void *lock)
{
	const struct lk_qrw *qrw = lock;

	return atomic_read(&qrw->queue.val) & ~WAIT_TAG_MASK;
}

const struct lk_ops lk_qrw_ops = {
	.name = "qrwlock",
	.summary = "queued read/write lock: fair, readers in batches",
	.size = sizeof(struct lk_qrw),
	.align = _Alignof(struct lk_qrw),
	.flags = LK_RW | LK_FIFO,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
	.read_lock = lock_read,
	.read_trylock = trylock_read,
	.read_unlock = unlock_read,
	.last_waiter = last_waiter,
};
