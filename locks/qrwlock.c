// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The slow paths of qrwlock.h, which has states, invariants and sources. */
#include "catalogue.h"
#include "qrwlock.h"

/*
 * False: the queue does not move, though the state has no bit of @busy. While a writer
 * drains, it may be that writer which is waited for: then it must have nobody to wait for.
 */
static inline bool join_queue(struct lk_qrw *lock, u32 busy)
{
	const struct lk_qspin_watch watch = {
		.word = (const u32 *)&lock->state,
		.busy = busy,
		.mark = LK_QRW_DRAINING,
		.busy_if_marked = ~LK_QRW_DRAINING,
	};

	return lk_qspin_lock_or_leave(&lock->queue, LK_QSPIN_ONLY_FAIR, &watch);
}

static inline void leave_queue(struct lk_qrw *lock)
{
	lk_qspin_unlock(&lock->queue);
}

/*
 * A counted reader becomes the head of the queue, and is counted then. With
 * nobody queued it is the head at once. No writer drains then, so its count may
 * stay, which saves two RMWs on the word that all want. False: it is not the head; it
 * has left the queue, and is counted as a nested reader is.
 */
static bool __lockfunc queue_reader(struct lk_qrw *lock)
{
	bool is_head;

	if (lk_qspin_trylock(&lock->queue, LK_QSPIN_ONLY_FAIR))
		return true;
	/* A writer before us may wait until nobody is counted. */
	atomic_sub(LK_QRW_READER, &lock->state);
	is_head = join_queue(lock, LK_QRW_HELD);
	atomic_add(LK_QRW_READER, &lock->state);
	return is_head;
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

/*
 * (-,*,0) -> (H,*,0): for a writer that has left the queue, whose head may be stopped
 * while it drains.
 */
static void __lockfunc wait_outside(struct lk_qrw *lock)
{
	u32 state;

	do {
		/* Orders nothing: the exchange does. */
		state = atomic_cond_read_relaxed(
			&lock->state, !((u32)VAL & ~LK_QRW_DRAINING));
		/* [qrwlock.F] */
	} while (!atomic_try_cmpxchg_acquire(&lock->state, &state,
					     state | LK_QRW_HELD));
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

void __lockfunc lk_qrw_read_lock_slow(struct lk_qrw *lock)
{
	bool is_head = queue_reader(lock);

	wait_for_writer_gone(lock);
	/* The next reader in the queue follows at once: they read together. */
	if (is_head)
		leave_queue(lock);
}

void __lockfunc lk_qrw_read_lock_nested_slow(struct lk_qrw *lock)
{
	/* Counted, so that the next writer waits for us, wherever it queues. */
	wait_for_writer_gone(lock);
}

void __lockfunc lk_qrw_lock_slow(struct lk_qrw *lock)
{
	if (!join_queue(lock, ~LK_QRW_DRAINING)) {
		wait_outside(lock);
		return;
	}
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
