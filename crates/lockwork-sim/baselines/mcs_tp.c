// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * MCS-TP: an MCS lock that is not handed to a waiter that is off its CPU.
 *
 *   tail   the last node; NULL: free. The first one holds
 *   state  of a node: 0 it waits; GRANTED; SKIPPED: it is out of the queue
 *
 *   A,b,C --unlock A, b is off its CPU--> C      b is SKIPPED, and queues again
 *   A,b   --unlock A, b is off its CPU--> NULL   when it runs
 *
 * Invariants: as of mcs_lock; only the holder skips, and a node once.
 *
 * Written from the description in He, Scherer and Scott, "Preemption Adaptivity in
 * Time-Published Queue-Based Spin Locks", HiPC 2005. Left out: the published times
 * of the waiters. The platform is asked instead whether the waiter's CPU runs, which
 * costs nothing and is never late: so this is the best that the lock could do. Also
 * left out: time-outs, and yields when the holder seems preempted.
 */
#include "catalogue.h"
#include "rival_node.h"

struct lk_mcs_tp {
	struct lk_rival_node *tail;
};

#define GRANTED ((uintptr_t)1)
#define SKIPPED ((uintptr_t)2)

/* False: skipped. */
static bool queue_up(struct lk_mcs_tp *tp, struct lk_rival_node *node)
{
	struct lk_rival_node *before;

	WRITE_ONCE(node->vcpu, this_vcpu());
	/* [mcs_tp.A] WMB, pairs with mcs_tp.B and .E: the node is clean before it
	 * can be found. */
	smp_wmb();
	/* [mcs_tp.B] ACQUIRE, pairs with mcs_tp.A and mcs_tp.D: see the last
	 * holder's writes, or find the node before us clean. */
	before = xchg_acquire(&tp->tail, node);
	if (!before)
		return true;
	/* [mcs_tp.G] RELEASE, pairs with mcs_tp.E: who skips us finds that we were
	 * the tail, not one before us. */
	smp_store_release(&before->next, node);
	/* [mcs_tp.C] ACQUIRE, pairs with mcs_tp.F: see the last holder's writes;
	 * the node is not used any more. */
	return smp_cond_load_acquire(&node->state, VAL) == GRANTED;
}

static void lock(void *lock)
{
	struct lk_rival_node *node = lk_rival_push();

	while (!queue_up(lock, node)) {
		WRITE_ONCE(node->next, NULL);
		WRITE_ONCE(node->state, 0);
	}
}

static bool trylock(void *lock)
{
	struct lk_mcs_tp *tp = lock;
	struct lk_rival_node *node, *free = NULL;

	if (READ_ONCE(tp->tail))
		return false;
	node = lk_rival_try_push();
	if (unlikely(!node))
		return false;
	/* [mcs_tp.B] */
	if (try_cmpxchg_acquire(&tp->tail, &free, node))
		return true;
	lk_rival_pop();
	return false;
}

static inline void tell(struct lk_rival_node *node, uintptr_t state)
{
	/* [mcs_tp.F] RELEASE, pairs with mcs_tp.C: publish the section, or that
	 * the node has been read. */
	smp_store_release(&node->state, state);
}

/* Who is behind @node; NULL: nobody, and the queue is empty now. */
static struct lk_rival_node *next_or_free(struct lk_mcs_tp *tp,
					  struct lk_rival_node *node)
{
	struct lk_rival_node *self = node;

	/* [mcs_tp.D] RELEASE, pairs with mcs_tp.B: publish the section. */
	if (!READ_ONCE(node->next) &&
	    try_cmpxchg_release(&tp->tail, &self, NULL))
		return NULL;
	/* [mcs_tp.E] ACQUIRE, pairs with mcs_tp.A and .G: the node is clean. */
	return smp_cond_load_acquire(&node->next, VAL);
}

static void unlock(void *lock)
{
	struct lk_rival_node *node = lk_rival_top(), *next, *skipped;
	u32 skips = 0;

	next = next_or_free(lock, node);
	/* Those skipped may run by now, and queue again: it has to end. */
	while (next && skips++ < LKP_MAX_SLOTS &&
	       vcpu_is_preempted(READ_ONCE(next->vcpu))) {
		skipped = next;
		next = next_or_free(lock, skipped);
		tell(skipped, SKIPPED);
	}
	if (next)
		tell(next, GRANTED);
	lk_rival_pop();
}

static void init(void *lock)
{
	((struct lk_mcs_tp *)lock)->tail = NULL;
}

const struct lk_ops lk_mcs_tp_ops = {
	.name = "mcs_tp",
	.summary =
		"MCS-TP (2005): an MCS queue that skips waiters off their CPU",
	.size = sizeof(struct lk_mcs_tp),
	.align = _Alignof(struct lk_mcs_tp),
	.flags = LK_KEEPS_NODE,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
