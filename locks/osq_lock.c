// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* osq_lock.h has states, invariants and sources. */
#include "catalogue.h"
#include "osq_lock.h"

struct osq_node {
	struct osq_node *next; /* where to look for the node behind it */
	u32 place;	       /* 0: it has not said yet */
	u32 vcpu;	       /* where its thread ran when it queued */
};

/* A place: one of these, and in 16 bits the code of the node before. */
#define BEHIND	  (1u << 16)
#define LEAVING	  (1u << 17)
#define CODE_MASK 0xffffu
/* Behind nobody. */
#define HOLDS BEHIND

DEFINE_WAIT_NODES(struct osq_node, osq_nodes);

static inline struct osq_node *decode(u32 code)
{
	return wait_node(osq_nodes, code >> 2, code & 3);
}

/* If @code is the last node, the last is now @before (0: nobody). */
static inline bool move_tail(struct lk_osq *osq, u32 code, u32 before)
{
	u32 tail = code;

	/* [osq.A] full RMW, pairs with osq.B and itself: a new arrival sees the
	 * last holder's writes. And writes to a link keep their order: those of
	 * the node that leaves come before an arrival's, and before the next use
	 * of @code's own link. Spare acq_rel: the kernel has no RMW between
	 * release and full. Spare release: in the model writes to a word have
	 * the order in which they ran. */
	return atomic_try_cmpxchg(&osq->tail, &tail, before);
}

/*
 * @next, if it is directly behind @code, is now behind @before. False if it is
 * not there yet, or leaves.
 */
static inline bool move_up(struct osq_node *next, u32 code, u32 before)
{
	u32 place = BEHIND | code;

	if (READ_ONCE(next->place) != place)
		return false;
	if (before) /* invariant 3: we are LEAVING it */
		WRITE_ONCE(decode(before)->next, next);
	/* [osq.E] full RMW, pairs with osq.C, osq.D and itself: @next sees the
	 * last holder's writes. And writes to a link keep their order: ours
	 * above comes before those of @next, and what was written to our own
	 * before its next use. Spare acq_rel: the kernel has no RMW between
	 * release and full. Spare release: as osq.A. */
	return try_cmpxchg(&next->place, &place, BEHIND | before);
}

/*
 * Takes a node out of the queue: the first (@before is 0), or one that is
 * LEAVING @before. Waits only for steps of the node behind.
 */
static void retire(struct lk_osq *osq, struct osq_node *node, u32 code,
		   u32 before)
{
	struct osq_node *next;
	u32 rounds = 0;

	for (;;) {
		next = READ_ONCE(node->next);
		if (next) {
			if (move_up(next, code, before))
				return;
		} else if ((u32)atomic_read(&osq->tail) == code) {
			if (before) /* as in move_up() */
				WRITE_ONCE(decode(before)->next, NULL);
			if (move_tail(osq, code, before))
				return;
		}
		cpu_relax_wait(&rounds);
	}
}

/* BEHIND -> LEAVING; false: it has another place now, or holds. */
static inline bool begin_leaving(struct osq_node *node, u32 place)
{
	/* Orders nothing: @place was loaded by osq.D, and never comes back. */
	return try_cmpxchg_relaxed(&node->place, &place,
				   LEAVING | (place & CODE_MASK));
}

/* Behind @before, which was the last. False: gave up, and left. */
static bool wait_turn(struct lk_osq *osq, struct osq_node *node, u32 code,
		      u32 before)
{
	u32 place, seen = 0, vcpu = 0;

	WRITE_ONCE(decode(before)->next, node);
	/* [osq.C] RELEASE, pairs with osq.E: our predecessor may use its node
	 * again once it sees BEHIND, so our write to its link must come first.
	 * Spare relaxed: in the model writes to a word have the order in which
	 * they ran. */
	smp_store_release(&node->place, BEHIND | before);

	for (;;) {
		/* [osq.D] ACQUIRE, pairs with osq.E. */
		place = smp_load_acquire(&node->place);
		if (place == HOLDS)
			return true;
		if (place != seen) {
			vcpu = READ_ONCE(decode(place & CODE_MASK)->vcpu);
			seen = place;
		}
		if ((need_resched() || vcpu_is_preempted(vcpu)) &&
		    begin_leaving(node, place)) {
			retire(osq, node, code, place & CODE_MASK);
			return false;
		}
		cpu_relax();
	}
}

static bool lock_with(struct lk_osq *osq, struct osq_node *node, u32 code)
{
	u32 before;

	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->place, 0); /* a fork may have left any place there */
	WRITE_ONCE(node->vcpu, this_vcpu());
	/* [osq.B] full RMW, pairs with osq.A and itself: the last holder's
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
	struct osq_node *node = decode(code);

	/* Not the tail first: with a node behind us, its line is not needed. */
	if (READ_ONCE(node->next) || !move_tail(osq, code, 0))
		retire(osq, node, code, 0);
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
