// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The mutex of locks/mutex.h without its queue of spinners: all that spin watch the
 * owner and the word at the same time, and all try when it is free.
 *
 * That is what the kernel's mutex did before its spinners queued, as the mail that
 * made them do so describes it (Waiman Long, v2 2/3, 2013-04-15). All else is the
 * mutex of today, reads before each read-modify-write and the hand-off included: so
 * this shows what the queue alone brings. mutex_xchg is an older state yet.
 */
#include "catalogue.h"
#include "mutex.h"

static bool queue_is_locked(const void *queue)
{
	(void)queue;
	return false;
}

static bool queue_lock(void *queue, const u32 *word)
{
	(void)queue;
	(void)word;
	return true;
}

static void queue_unlock(void *queue)
{
	(void)queue;
}

static const struct lk_spin_queue no_queue = {
	.is_locked = queue_is_locked,
	.lock = queue_lock,
	.unlock = queue_unlock,
};

static void lock(void *lock)
{
	if (unlikely(!lk_mutex_lock_fast(lock)))
		lk_mutex_lock_slow_over(lock, NULL, &no_queue);
}

const struct lk_ops lk_mutex_no_osq_ops = {
	.name = "mutex_no_osq",
	.summary = "the mutex before its spinners queued (2013): all watch the "
		   "owner",
	.size = sizeof(struct lk_mutex),
	.align = _Alignof(struct lk_mutex),
	.flags = LK_SLEEPS,
	.init = lk_mutex_op_init,
	.lock = lock,
	.trylock = lk_mutex_op_trylock,
	.unlock = lk_mutex_op_unlock,
};
