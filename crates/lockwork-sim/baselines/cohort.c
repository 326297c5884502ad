// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* cohort.h has states, invariants and sources. */
#include "catalogue.h"
#include "cohort.h"
#include "knobs.h"

#define NEED_TOP ((uintptr_t)1)
#define HOLD	 ((uintptr_t)2)

/* -- the queue of clusters ----------------------------------------------- */

static void lock_top(struct lk_cohort *cohort, struct lk_cohort_cluster *mine)
{
	struct lk_cohort_cluster *before;

	WRITE_ONCE(mine->next, NULL);
	WRITE_ONCE(mine->granted, 0);
	/* [cohort.A] WMB, pairs with cohort.B and .D: the place is clean before it
	 * can be found. */
	smp_wmb();
	/* [cohort.B] ACQUIRE, pairs with cohort.A and .C: see the last holder's
	 * writes, or find the cluster before us clean. */
	before = xchg_acquire(&cohort->top, mine);
	if (!before)
		return;
	WRITE_ONCE(before->next, mine);
	/* [cohort.E] ACQUIRE, pairs with cohort.F: the last holder's writes. */
	smp_cond_load_acquire(&mine->granted, VAL);
}

/* True: no other cluster waits. */
static bool unlock_top(struct lk_cohort *cohort, struct lk_cohort_cluster *mine)
{
	struct lk_cohort_cluster *self = mine, *next;

	/* [cohort.C] RELEASE, pairs with cohort.B: publish the section. */
	if (!READ_ONCE(mine->next) &&
	    try_cmpxchg_release(&cohort->top, &self, NULL))
		return true;
	/* [cohort.D] ACQUIRE, pairs with cohort.A: granted is clean before it is
	 * set. */
	next = smp_cond_load_acquire(&mine->next, VAL);
	/* [cohort.F] RELEASE, pairs with cohort.E: publish the section. */
	smp_store_release(&next->granted, 1);
	return false;
}

/* -- a cluster's queue --------------------------------------------------- */

void lk_cohort_enter(struct lk_cohort *cohort, struct lk_rival_node *node)
{
	u32 cluster = this_cluster() % LK_COHORT_MOST;
	struct lk_cohort_cluster *mine = &cohort->clusters[cluster];
	struct lk_rival_node *before;

	WRITE_ONCE(node->cluster, cluster);
	/* [cohort.G] ACQUIRE, pairs with rival_node.A and cohort.J: find the node
	 * before us clean; the cluster's place is no longer in use. */
	before = xchg_acquire(&mine->tail, node);
	if (before) {
		WRITE_ONCE(before->next, node);
		/* [cohort.H] ACQUIRE, pairs with cohort.I: the last holder's
		 * writes. */
		if (smp_cond_load_acquire(&node->state, VAL) != NEED_TOP)
			return;
	}
	lock_top(cohort, mine);
	WRITE_ONCE(node->state, HOLD);
}

static inline void grant(struct lk_rival_node *node, uintptr_t state)
{
	/* [cohort.I] RELEASE, pairs with cohort.H: publish the section, or that
	 * the cluster's place is no longer in use. */
	smp_store_release(&node->state, state);
}

bool lk_cohort_leave(struct lk_cohort *cohort, struct lk_rival_node *node)
{
	u32 cluster = READ_ONCE(node->cluster);
	struct lk_cohort_cluster *mine = &cohort->clusters[cluster];
	uintptr_t state = READ_ONCE(node->state);
	struct lk_rival_node *next, *self = node;
	bool alone;

	/* [cohort.K] ACQUIRE, pairs with rival_node.A: its state is clean. */
	next = smp_load_acquire(&node->next);
	if (next && state < HOLD + knob(osq_node_max)) {
		grant(next, state + 1);
		return false;
	}
	alone = unlock_top(cohort, mine);
	if (!next) {
		/* [cohort.J] RELEASE, pairs with cohort.G. */
		if (try_cmpxchg_release(&mine->tail, &self, NULL))
			return alone;
		/* [cohort.K] */
		next = smp_cond_load_acquire(&node->next, VAL);
	}
	grant(next, NEED_TOP);
	return false;
}

/* -- as a lock ----------------------------------------------------------- */

static void init(void *lock)
{
	struct lk_cohort *cohort = lock;
	u32 i;

	cohort->top = NULL;
	for (i = 0; i < LK_COHORT_MOST; i++)
		cohort->clusters[i] = (struct lk_cohort_cluster){ 0 };
}

static void lock(void *lock)
{
	lk_cohort_enter(lock, lk_rival_push());
}

static void unlock(void *lock)
{
	lk_cohort_leave(lock, lk_rival_top());
	lk_rival_pop();
}

const struct lk_ops lk_cohort_ops = {
	.name = "cohort",
	.summary = "cohort lock C-MCS-MCS (2012): a queue of clusters' queues",
	.size = sizeof(struct lk_cohort),
	.align = _Alignof(struct lk_cohort),
	.flags = LK_KEEPS_NODE | LK_CLUSTERS,
	.init = init,
	.lock = lock,
	.unlock = unlock,
};
