// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * rwsem.h has states, invariants and sources. rwsem_spin.c and rwsem_sleep.c have how
 * threads wait. rwsem_list.c has what is done for those that sleep.
 */
#include "catalogue.h"
#include "rwsem_list.h"
#include "rwsem_sleep.h"
#include "rwsem_spin.h"

/* -- locking ------------------------------------------------------------- */

static int lock_for(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		    struct lk_rwsem_want want,
		    const struct lkp_deadline *deadline,
		    const struct lk_spin_queue *queue)
{
	lk_rwsem_check_epoch(s);
	if (lk_rwsem_spin(s, want, queue ? queue : &lk_spin_over_osq))
		return 0;
	return lk_rwsem_sleep_as(s, w, want, deadline);
}

__cold int lk_rwsem_lock_as(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
			    const struct lkp_deadline *deadline,
			    const struct lk_spin_queue *queue)
{
	struct lk_rwsem_want write = { .gain = LK_RWSEM_WRITER };

	return lock_for(s, w, write, deadline, queue);
}

__cold int lk_rwsem_read_lock_as(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
				 enum lk_rwsem_reader how,
				 const struct lkp_deadline *deadline,
				 const struct lk_spin_queue *queue)
{
	struct lk_rwsem_want read = { .gain = LK_RWSEM_READER, .how = how };

	return lock_for(s, w, read, deadline, queue);
}

__cold int lk_rwsem_lock_slow(struct lk_rwsem *s,
			      const struct lkp_deadline *deadline,
			      const struct lk_spin_queue *queue)
{
	struct lk_rwsem_waiter w;

	return lk_rwsem_lock_as(s, &w, deadline, queue);
}

__cold int lk_rwsem_read_lock_slow(struct lk_rwsem *s, enum lk_rwsem_reader how,
				   const struct lkp_deadline *deadline,
				   const struct lk_spin_queue *queue)
{
	struct lk_rwsem_waiter w;

	return lk_rwsem_read_lock_as(s, &w, how, deadline, queue);
}

/* -- unlocking ----------------------------------------------------------- */

/* Gives @what back without wait_lock; false: somebody has to be looked after. */
static bool give_back(struct lk_rwsem *s, u32 what)
{
	u32 word = atomic_read(&s->word);

	while (!(word & LK_RWSEM_LOOK)) {
		/* [rwsem.D] RELEASE, pairs with rwsem.A, .E,
		 * rwsem_sleep.A and rwsem_list.A: as B or C. */
		if (atomic_try_cmpxchg_release(&s->word, &word, word - what))
			return true;
	}
	return false;
}

/*
 * The lock is free, or was a moment ago: a thread that takes it soon looks after
 * the sleepers in its unlock. True if somebody holds it.
 */
static bool passed_on(struct lk_rwsem *s)
{
	u32 limit = lk_watch_rounds(s, &s->owner), rounds = 0, word;

	while (rounds < limit) {
		word = atomic_read(&s->word);
		if (word & ~LK_RWSEM_MARKS)
			return true;
		if (word & LK_RWSEM_HANDOFF)
			return false;
		cpu_relax_wait(&rounds);
	}
	return false;
}

__cold void lk_rwsem_unlock_slow(struct lk_rwsem *s, u32 what)
{
	struct wakes wakes = { .count = 0 };
	void *outer;

	while (!give_back(s, what)) {
		if (in_any_section()) {
			/* A signal handler. The thread that has the list may be in one, too. */
			(void)atomic_sub_return_release(
				what, &s->word); /* [rwsem.D] */
			lk_rwsem_look(s);
			return;
		}
		lk_rwsem_check_epoch(s);
		outer = list_lock(s);
		if (!((u32)atomic_read(&s->word) & LK_RWSEM_LOOK)) {
			list_unlock(s, outer);
			continue;
		}
		(void)atomic_sub_return_release(what, &s->word); /* [rwsem.D] */
		if (!first_of(s)->timed || !passed_on(s))
			lk_rwsem_look_for_next(s, &wakes);
		lk_rwsem_unlock_and_wake(s, outer, &wakes);
		return;
	}
}

void lk_rwsem_downgrade(struct lk_rwsem *s)
{
	/* [rwsem.D] */
	u32 word = atomic_sub_return_release(LK_RWSEM_WRITER - LK_RWSEM_READER,
					     &s->word);

	if (word & LK_RWSEM_LOOK)
		lk_rwsem_look(s);
}

/* -- catalogue ----------------------------------------------------------- */

void lk_rwsem_op_init(void *lock)
{
	*(struct lk_rwsem *)lock = (struct lk_rwsem)LK_RWSEM_INIT;
}

static void lock(void *lock)
{
	lk_rwsem_lock(lock);
}

bool lk_rwsem_op_trylock(void *lock)
{
	return lk_rwsem_try_write(lock);
}

bool lk_rwsem_op_timedlock(void *lock, u64 ns,
			   const struct lk_spin_queue *queue)
{
	struct lkp_deadline deadline;

	if (lk_rwsem_trylock(lock))
		return true;
	deadline_after(&deadline, ns);
	return lk_rwsem_lock_slow(lock, &deadline, queue) == 0;
}

static bool timedlock(void *lock, u64 ns)
{
	return lk_rwsem_op_timedlock(lock, ns, NULL);
}

void lk_rwsem_op_unlock(void *lock)
{
	lk_rwsem_unlock(lock);
}

static void lock_read(void *lock)
{
	lk_rwsem_read_lock(lock);
}

bool lk_rwsem_op_read_trylock(void *lock)
{
	return lk_rwsem_try_read(lock, LK_READER_PASSES);
}

bool lk_rwsem_op_read_timedlock(void *lock, u64 ns,
				const struct lk_spin_queue *queue)
{
	struct lkp_deadline deadline;

	if (lk_rwsem_read_trylock(lock, LK_READER_PASSES))
		return true;
	deadline_after(&deadline, ns);
	return lk_rwsem_read_lock_slow(lock, LK_READER_PASSES, &deadline,
				       queue) == 0;
}

static bool timedlock_read(void *lock, u64 ns)
{
	return lk_rwsem_op_read_timedlock(lock, ns, NULL);
}

void lk_rwsem_op_read_unlock(void *lock)
{
	lk_rwsem_read_unlock(lock);
}

void lk_rwsem_op_downgrade(void *lock)
{
	lk_rwsem_downgrade(lock);
}

/* The last sleeper; spinners are not in this list. */
u64 lk_rwsem_last_waiter(const void *lock)
{
	struct lk_rwsem *s = (struct lk_rwsem *)lock;
	void *outer = list_lock(s);
	u64 last;

	last = anybody_sleeps(s) ? (u64)(uintptr_t)first_of(s)->ring.prev : 0;
	list_unlock(s, outer);
	return last;
}

const struct lk_ops lk_rwsem_ops = {
	.name = "rwsem",
	.summary = "sleeping read/write lock: optimistic spinning, reader "
		   "batches, hand-off",
	.size = sizeof(struct lk_rwsem),
	.align = _Alignof(struct lk_rwsem),
	.flags = LK_RW | LK_SLEEPS | LK_FORKS,
	.init = lk_rwsem_op_init,
	.lock = lock,
	.trylock = lk_rwsem_op_trylock,
	.timedlock = timedlock,
	.unlock = lk_rwsem_op_unlock,
	.read_lock = lock_read,
	.read_trylock = lk_rwsem_op_read_trylock,
	.read_timedlock = timedlock_read,
	.downgrade = lk_rwsem_op_downgrade,
	.read_unlock = lk_rwsem_op_read_unlock,
	.last_waiter = lk_rwsem_last_waiter,
};
