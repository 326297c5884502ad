// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* osq_lock.h has states, invariants and sources. */
#include "cancel_retire.h"
#include "catalogue.h"
#include "osq_lock.h"

DEFINE_WAIT_NODES(struct cq_node, osq_nodes);

struct cancel_queue {
	struct lk_osq osq;
};

static inline struct cancel_queue *queue_of(struct lk_osq *osq)
{
	return container_of(osq, struct cancel_queue, osq);
}

static inline struct cq_node *node_of(u32 code)
{
	return wait_node(osq_nodes, code >> 2, code & 3);
}

static inline bool cq_is_last(struct cancel_queue *queue, u32 code)
{
	return (u32)atomic_read(&queue->osq.tail) == code;
}

/* (tail) @code -> @before, or -> 0: the lock is free. */
static inline bool cq_move_tail(struct cancel_queue *queue, u32 code,
				u32 before)
{
	u32 tail = code;

	/* [osq.A] full RMW, pairs with osq.B and itself: a new arrival sees the
	 * last owner's writes. And writes to a link keep their order: those of
	 * the node that leaves come before an arrival's, and before the next
	 * use of @code's own link. Spare acq_rel: the kernel has no RMW between
	 * release and full. Spare release: in the model writes to a word have
	 * the order in which they ran. */
	return atomic_try_cmpxchg(&queue->osq.tail, &tail, before);
}

/* Behind @before, which was the last. False: gave up, and left. */
static bool wait_turn(struct lk_osq *osq, struct cq_node *node, u32 code,
		      u32 before)
{
	struct cq_node *prev = node_of(before);
	u32 place, seen = 0, vcpu = 0;

	cq_append(node, prev, before);
	for (;;) {
		place = cq_place(node);
		if (cq_is_granted(place))
			return true;
		if (place != seen) {
			prev = node_of(place & CQ_BELOW);
			vcpu = READ_ONCE(prev->vcpu);
			seen = place;
		}
		if ((need_resched() || vcpu_is_preempted(vcpu)) &&
		    cq_leave(queue_of(osq), node, code, prev, place))
			return false;
		cpu_relax();
	}
}

/*
 * (tail) 0 -> @code: the lock is ours.
 * (tail) p -> @code: ours is the last node, and waits behind p.
 */
static bool lock_with(struct lk_osq *osq, struct cq_node *node, u32 code)
{
	u32 before;

	cq_init(node);
	WRITE_ONCE(node->vcpu, this_vcpu());
	/* [osq.B] full RMW, pairs with osq.A and itself: the last owner's
	 * writes are seen, and our link is clean before it is written to.
	 * Spare acq_rel: the kernel has no RMW between release and full. */
	before = atomic_xchg(&osq->tail, code);
	return !before || wait_turn(osq, node, code, before);
}

bool lk_osq_lock(struct lk_osq *osq)
{
	u32 slot, level;

	queue_enter(); /* until the node is no longer ours */
	slot = this_slot();
	level = wait_depth(osq_nodes);
	if (likely(slot && level < LKP_MAX_NEST)) {
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
	struct cancel_queue *queue = queue_of(osq);
	struct cq_node *node = node_of(code);

	/* Not the tail first: with a node behind us, its line is not needed. */
	if (READ_ONCE(node->next) || !cq_move_tail(queue, code, 0))
		cq_retire(queue, node, code, NULL, CQ_GRANTED);
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
