// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* How a pthread mutex is waited for under each policy. */
#include "cut_off.h"
#include "mutex_parts.h"

#include "qspinlock.h"
#include "spinners.h"

typedef int wait_fn(struct lk_mutex *, const struct lkp_deadline *,
		    const struct lk_spin_queue *);

/* A call that waits. */
struct call {
	struct pre_cut_off cut_off;
	struct lk_mutex *mutex;
	struct lk_mutex_waiter waiter;	   /* one that sleeps */
	const struct lk_spin_queue *queue; /* one that spins */
	u32 stage;
};

static struct call *call_of(struct pre_cut_off *cut_off)
{
	return container_of(cut_off, struct call, cut_off);
}

/* -- waiters that sleep -------------------------------------------------- */

static bool leave_list(struct pre_cut_off *cut_off)
{
	struct call *call = call_of(cut_off);

	if (!READ_ONCE(call->waiter.queued))
		lkp_slot_keep(); /* it may be in the queue of spinners */
	return lk_mutex_abandon(call->mutex, &call->waiter);
}

static int sleep(struct lk_mutex *m, const struct lkp_deadline *deadline,
		 const struct lk_spin_queue *queue)
{
	struct call call = { .mutex = m };
	int err;

	pre_cut_off_begin(&call.cut_off, leave_list);
	err = lk_mutex_lock_as(m, &call.waiter, deadline, queue);
	pre_cut_off_end(&call.cut_off);
	return err;
}

/* -- waiters that spin --------------------------------------------------- */

static bool leave_queue(struct pre_cut_off *cut_off)
{
	struct call *call = call_of(cut_off);

	return lk_mutex_spin_abandon(call->mutex, call->queue, &call->stage);
}

/* How long a waiter spins between two looks whether its thread is cancelled. */
#define SPIN_NS 1000000

/* Outside of the queue, with cancellation let in now and then. */
static bool spin_cancellable(struct call *call,
			     const struct lkp_deadline *deadline)
{
	struct lkp_deadline next;

	do {
		if (deadline && deadline_within(deadline, SPIN_NS))
			return lk_mutex_spin(call->mutex, deadline, NULL,
					     &call->stage);
		pre_cut_off_let_cancel();
		deadline_after(&next, SPIN_NS);
	} while (!lk_mutex_spin(call->mutex, &next, NULL, &call->stage));
	return true;
}

static int spin(struct lk_mutex *m, const struct lkp_deadline *deadline,
		const struct lk_spin_queue *queue)
{
	struct call call = { .mutex = m, .queue = queue };
	bool taken;

	pre_cut_off_begin(&call.cut_off, leave_queue);
	if (pre_cut_off_is_async(&call.cut_off))
		taken = spin_cancellable(&call, deadline);
	else
		taken = lk_mutex_spin(m, deadline, queue, &call.stage);
	pre_cut_off_end(&call.cut_off);
	return taken ? 0 : -ETIMEDOUT;
}

/* What a waiter does, and the queue in which it spins. */
struct way {
	wait_fn *wait;
	const struct lk_spin_queue *queue;
};

/* By the lock that policies.def names. */
static const struct way way_mutex = { sleep, &lk_spin_over_osq };
static const struct way way_mutex_numa = { sleep, &lk_spin_over_numa_osq };
static const struct way way_qspinlock_fair = {
	spin, &lk_spin_over_qspin[LK_QSPIN_FAIR]
};
static const struct way way_qspinlock_steal = {
	spin, &lk_spin_over_qspin[LK_QSPIN_STEAL]
};
static const struct way way_qspinlock_tas = { spin, NULL };

static const struct way *const ways[] = {
#define PRE_POLICY(id, name, mutex, rwlock, spinlock, summary) \
	[PRE_POLICY_##id] = &way_##mutex,
#include "policies.def"
#undef PRE_POLICY
};

__cold int pre_mutex_lock_contended(struct lk_mutex *m,
				    const struct lkp_deadline *deadline)
{
	const struct way *way = ways[pre_policy()];

	return -way->wait(m, deadline, way->queue);
}
