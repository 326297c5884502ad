// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* osq_lock.h has states, invariants and sources. */
#include "catalogue.h"
#include "osq_lock.h"

struct osq_node {
	struct osq_node *next;
	u32 prev; /* the code of the node before it */
	u32 granted;
	u32 vcpu; /* where its thread ran when it queued */
};

DEFINE_WAIT_NODES(struct osq_node, osq_nodes);

static inline struct osq_node *decode(u32 code)
{
	return wait_node(osq_nodes, code >> 2, code & 3);
}

/*
 * The node behind @node, once it is certain: NULL if the queue now ends at
 * @before (0: it is empty). Takes the link away, so that our successor cannot
 * leave while we use it.
 */
static struct osq_node *wait_next(struct lk_osq *osq, struct osq_node *node,
				  u32 code, u32 before)
{
	struct osq_node *next;
	u32 tail, rounds = 0;

	for (;;) {
		tail = code;
		/* [osq.A] RELEASE, pairs with osq.B: a new arrival sees the
		 * last holder's writes, and the link that we cut. */
		if ((u32)atomic_read(&osq->tail) == code &&
		    atomic_try_cmpxchg_release(&osq->tail, &tail, before))
			return NULL;
		if (READ_ONCE(node->next)) {
			/* [osq.C] ACQUIRE, pairs with osq.G and .H: take the
			 * link before the neighbour may cut it, and see its
			 * node as it was when it queued. */
			next = xchg_acquire(&node->next, NULL);
			if (next)
				return next;
		}
		cpu_relax_wait(&rounds);
	}
}

/* Leaves the queue. True: too late, the lock was granted meanwhile. */
static bool unqueue(struct lk_osq *osq, struct osq_node *node, u32 code)
{
	struct osq_node *prev, *next, *self;
	u32 before = READ_ONCE(node->prev), rounds = 0;

	/* Step A: cut prev->next, so that prev neither grants nor leaves. */
	for (;;) {
		prev = decode(before);
		self = node;
		/* Orders nothing: who comes after it sees it by osq.A or .G. */
		if (READ_ONCE(prev->next) == node &&
		    try_cmpxchg_relaxed(&prev->next, &self, NULL))
			break;
		/* [osq.D] ACQUIRE, pairs with osq.F. */
		if (smp_load_acquire(&node->granted))
			return true;
		cpu_relax_wait(&rounds);
		/* prev itself may have left: ours is another one now. */
		before = READ_ONCE(node->prev);
	}

	/* Step B: be sure who is behind us, and keep it from leaving. */
	next = wait_next(osq, node, code, before);
	if (!next)
		return false;

	/* Step C: join the neighbours. A stale prev is harmless: all that is
	 * done with it is a compare-and-exchange and a look at a hint. */
	WRITE_ONCE(next->prev, before);
	/* [osq.G] RELEASE, pairs with osq.C: prev sees next's node as we do. */
	smp_store_release(&prev->next, next);
	return false;
}

static inline bool must_leave(struct osq_node *node)
{
	struct osq_node *prev = decode(READ_ONCE(node->prev));

	return need_resched() || vcpu_is_preempted(READ_ONCE(prev->vcpu));
}

static bool lock_with(struct lk_osq *osq, struct osq_node *node, u32 code)
{
	struct osq_node *prev;
	u32 old;

	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->granted, 0);
	WRITE_ONCE(node->vcpu, this_vcpu());
	/* [osq.B] full RMW, pairs with osq.A and itself: our node is clean
	 * before it can be found, and the last holder's writes are seen.
	 * Spare acq_rel: the kernel has no RMW between release and full. */
	old = atomic_xchg(&osq->tail, code);
	if (!old)
		return true;

	prev = decode(old);
	WRITE_ONCE(node->prev, old);
	/* [osq.H] WMB, pairs with osq.C: whoever finds us by prev->next finds
	 * prev in our node. */
	smp_wmb();
	WRITE_ONCE(prev->next, node);

	/* [osq.D] */
	while (!smp_load_acquire(&node->granted)) {
		if (must_leave(node))
			return unqueue(osq, node, code);
		cpu_relax();
	}
	return true;
}

bool lk_osq_lock(struct lk_osq *osq)
{
	u32 slot, level;

	queue_enter(); /* until the node is no longer ours */
	slot = this_slot();
	level = wait_depth(osq_nodes);
	if (likely(slot && level < LW_MAX_NEST)) {
		wait_depth(osq_nodes)++;
		barrier(); /* a signal handler's lock is one level up now */
		if (lock_with(osq, wait_node(osq_nodes, slot, level),
			      slot << 2 | level))
			return true;
		barrier();
		wait_depth(osq_nodes)--;
	}
	queue_exit();
	return false;
}

void lk_osq_unlock(struct lk_osq *osq)
{
	u32 level = wait_depth(osq_nodes) - 1, code = this_slot() << 2 | level;
	struct osq_node *node = decode(code), *next;
	u32 tail = code;

	/* [osq.A] */
	if (unlikely(!atomic_try_cmpxchg_release(&osq->tail, &tail, 0))) {
		next = xchg_acquire(&node->next, NULL); /* [osq.C] */
		if (!next)
			next = wait_next(osq, node, code, 0);
		/* [osq.F] RELEASE, pairs with osq.D. */
		if (next)
			smp_store_release(&next->granted, 1);
	}
	barrier();
	wait_depth(osq_nodes)--;
	queue_exit();
}

static void init(void *lock)
{
	*(struct lk_osq *)lock = (struct lk_osq)LK_OSQ_INIT;
}

static bool attempt(void *lock)
{
	begin_waiting();
	return lk_osq_lock(lock);
}

static void lock(void *lock)
{
	u32 rounds = 0;

	while (!attempt(lock))
		cpu_relax_wait(&rounds);
}

static void unlock(void *lock)
{
	lk_osq_unlock(lock);
}

static u64 last_waiter(const void *lock)
{
	return atomic_read(&((const struct lk_osq *)lock)->tail);
}

const struct lk_ops lk_osq_ops = {
	.name = "osq_lock",
	.summary =
		"optimistic spin queue: an MCS queue whose waiters may leave",
	.size = sizeof(struct lk_osq),
	.align = _Alignof(struct lk_osq),
	.flags = LK_CANCEL | LK_KEEPS_NODE,
	.init = init,
	.lock = lock,
	.attempt = attempt,
	.unlock = unlock,
	.last_waiter = last_waiter,
};
