// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* How a pthread read/write lock is waited for. */
#include "cut_off.h"
#include "rwlock_parts.h"

/* A call that waits. */
struct call {
	struct pre_cut_off cut_off;
	struct lk_rwsem *sem;
	struct lk_rwsem_waiter waiter;
};

static bool leave_list(struct pre_cut_off *cut_off)
{
	struct call *call = container_of(cut_off, struct call, cut_off);

	if (!READ_ONCE(call->waiter.queued))
		lkp_slot_keep(); /* it may be in the queue of spinners */
	return lk_rwsem_abandon(call->sem, &call->waiter);
}

/* Where waiters spin, by the lock that policies.def names. */
#define QUEUE_rwsem	 &lk_spin_over_osq
#define QUEUE_rwsem_numa &lk_spin_over_numa_osq

static const struct lk_spin_queue *const queues[] = {
#define PRE_POLICY(id, name, mutex, rwlock, spinlock, summary) \
	[PRE_POLICY_##id] = QUEUE_##rwlock,
#include "policies.def"
#undef PRE_POLICY
};

/* Asking for the policy sets the knobs. */
static const struct lk_spin_queue *queue(void)
{
	return queues[pre_policy()];
}

__cold int pre_rwlock_wait(struct lk_rwsem *sem, u32 gain,
			   enum lk_rwsem_reader how,
			   const struct lkp_deadline *deadline)
{
	struct call call = { .sem = sem };
	int err;

	pre_cut_off_begin(&call.cut_off, leave_list);
	if (gain == LK_RWSEM_WRITER)
		err = lk_rwsem_lock_as(sem, &call.waiter, deadline, queue());
	else
		err = lk_rwsem_read_lock_as(sem, &call.waiter, how, deadline,
					    queue());
	pre_cut_off_end(&call.cut_off);
	return -err;
}
