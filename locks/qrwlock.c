// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The slow paths of qrwlock.h, which has states, invariants and sources. */
#include "catalogue.h"
#include "qrwlock.h"

static inline void join_queue(struct lk_qrw *lock)
{
	lk_qspin_lock(&lock->queue, LK_QSPIN_ONLY_FAIR);
}

static inline void leave_queue(struct lk_qrw *lock)
{
	lk_qspin_unlock(&lock->queue);
}

/*
 * A counted reader becomes the head of the queue, and is counted then. With
 * nobody queued it is the head at once. No writer drains then, so its count may
 * stay, which saves two RMWs on the word that all want.
 */
static void queue_reader(struct lk_qrw *lock)
{
	if (lk_qspin_trylock(&lock->queue, LK_QSPIN_ONLY_FAIR))
		return;
	/* A writer before us may wait until nobody is counted. */
	atomic_sub(LK_QRW_READER, &lock->state);
	join_queue(lock);
	atomic_add(LK_QRW_READER, &lock->state);
}

/*
 * (H,-,n) -> (-,-,n). A draining writer need not be waited for: it would be the
 * head, and we are.
 */
static inline void wait_for_writer_gone(struct lk_qrw *lock)
{
	/* [qrwlock.E] ACQUIRE, pairs with qrwlock.B: the last writer's writes. */
	atomic_cond_read_acquire(&lock->state, !(VAL & LK_QRW_HELD));
}

/* No thread takes the lock past us from here on; its users may finish. */
static inline void announce(struct lk_qrw *lock)
{
	/* Orders nothing: drain() does. */
	atomic_add(LK_QRW_DRAINING, &lock->state);
}

/*
 * (*,d,n) -> (-,d,0) -> (H,-,0): once the holder and the readers have gone. By a
 * compare-and-exchange, as nested readers may come until then.
 */
static inline void drain(struct lk_qrw *lock)
{
	u32 alone;

	do {
		alone = LK_QRW_DRAINING;
		/* Orders nothing: the exchange does. */
		atomic_cond_read_relaxed(&lock->state, (u32)VAL == alone);
		/* [qrwlock.F] ACQUIRE, pairs with qrwlock.B and qrwlock.C: the
		 * last writer's writes, and the reads are done. */
	} while (
		!atomic_try_cmpxchg_acquire(&lock->state, &alone, LK_QRW_HELD));
}

__cold void lk_qrw_read_lock_slow(struct lk_qrw *lock)
{
	queue_reader(lock);
	wait_for_writer_gone(lock);
	/* The next reader in the queue follows at once: they read together. */
	leave_queue(lock);
}

__cold void lk_qrw_read_lock_nested_slow(struct lk_qrw *lock)
{
	/* Counted, so that the next writer waits for us, wherever it queues. */
	wait_for_writer_gone(lock);
}

__cold void lk_qrw_lock_slow(struct lk_qrw *lock)
{
	join_queue(lock);
	announce(lock);
	drain(lock);
	/* Not before: a reader at the head would be counted while we drain. */
	leave_queue(lock);
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

/* The queue's word: a waiter holds it or queues on it. */
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
