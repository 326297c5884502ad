// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* spinners.h says what these are for. */
#include "numa_osq.h"
#include "osq_lock.h"
#include "qspinlock.h"
#include "spinners.h"

_Static_assert(sizeof(struct lk_numa_osq) == sizeof(struct lk_osq) &&
		       _Alignof(struct lk_numa_osq) == _Alignof(struct lk_osq),
	       "the one is stored in place of the other");

static bool spin_osq_is_locked(const void *queue)
{
	return lk_osq_is_locked(queue);
}

static bool spin_osq_lock(void *queue, const u32 *word)
{
	(void)word;
	return lk_osq_lock(queue);
}

static void spin_osq_unlock(void *queue)
{
	lk_osq_unlock(queue);
}

const struct lk_spin_queue lk_spin_over_osq = {
	.is_locked = spin_osq_is_locked,
	.lock = spin_osq_lock,
	.unlock = spin_osq_unlock,
};

static bool spin_numa_is_locked(const void *queue)
{
	return lk_numa_osq_is_locked(queue);
}

static bool spin_numa_lock(void *queue, const u32 *word)
{
	(void)word;
	return lk_numa_osq_lock(queue);
}

static void spin_numa_unlock(void *queue)
{
	lk_numa_osq_unlock(queue);
}

const struct lk_spin_queue lk_spin_over_numa_osq = {
	.is_locked = spin_numa_is_locked,
	.lock = spin_numa_lock,
	.unlock = spin_numa_unlock,
};

_Static_assert(sizeof(struct lk_qspin) == sizeof(struct lk_osq) &&
		       _Alignof(struct lk_qspin) == _Alignof(struct lk_osq),
	       "as above");

static bool spin_qspin_is_locked(const void *queue)
{
	return READ_ONCE(((const struct lk_qspin *)queue)->locked);
}

static inline bool spin_qspin_lock(void *queue, const u32 *word,
				   enum lk_qspin_mode mode)
{
	const struct lk_qspin_watch watch = { .word = word, .busy = ~0u };

	return lk_qspin_lock_or_leave(queue, mode, &watch);
}

static bool spin_qspin_lock_fair(void *queue, const u32 *word)
{
	return spin_qspin_lock(queue, word, LK_QSPIN_FAIR);
}

static bool spin_qspin_lock_steal(void *queue, const u32 *word)
{
	return spin_qspin_lock(queue, word, LK_QSPIN_STEAL);
}

static void spin_qspin_unlock(void *queue)
{
	lk_qspin_unlock(queue);
}

/* clang-format off */
#define LK_SPIN_OVER_QSPIN(how)                     \
	{                                           \
		.is_locked = spin_qspin_is_locked,  \
		.lock = spin_qspin_lock_##how,      \
		.unlock = spin_qspin_unlock,        \
	}
/* clang-format on */

const struct lk_spin_queue lk_spin_over_qspin[] = {
	[LK_QSPIN_FAIR] = LK_SPIN_OVER_QSPIN(fair),
	[LK_QSPIN_STEAL] = LK_SPIN_OVER_QSPIN(steal),
};
