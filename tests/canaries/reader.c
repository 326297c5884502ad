// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Broken: a reader counts itself in without looking for a writer.
 * Must be caught by: readers.
 */
#include <catalogue.h>

struct canary {
	u32 writer;
	atomic_t readers;
};

static void init(void *lock)
{
	*(struct canary *)lock = (struct canary){ 0 };
}

static void lock(void *lock)
{
	struct canary *canary = lock;

	while (xchg_acquire(&canary->writer, 1))
		smp_cond_load_relaxed(&canary->writer, !VAL);
	atomic_cond_read_acquire(&canary->readers, !VAL);
}

static void unlock(void *lock)
{
	smp_store_release(&((struct canary *)lock)->writer, 0);
}

static void enter_shared(void *lock)
{
	/* wrong: a writer may hold the lock */
	atomic_add_return_acquire(1, &((struct canary *)lock)->readers);
}

static void leave_shared(void *lock)
{
	atomic_sub_return_release(1, &((struct canary *)lock)->readers);
}

const struct lk_ops canary_reader_ops = {
	.name = "canary_reader",
	.summary = "broken: readers do not wait for a writer",
	.size = sizeof(struct canary),
	.align = _Alignof(struct canary),
	.flags = LK_RW,
	.init = init,
	.lock = lock,
	.unlock = unlock,
	.read_lock = enter_shared,
	.read_unlock = leave_shared,
};
