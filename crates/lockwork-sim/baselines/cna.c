// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * CNA, a compact NUMA-aware lock: one word, an MCS queue in two.
 *
 *   tail   the last node of the main queue; NULL: free
 *   state  of a node: 0 it waits; NONE it holds, and the secondary queue is
 *          empty; else it holds, and this is the secondary queue's head
 *   tail   of the secondary queue's head: the last node there
 *   count  of a holder: hand-overs inside the cluster since the last one to the
 *          secondary queue
 *
 *   A,b,c,B,... --unlock A--> B,...      and b,c are behind the secondary queue:
 *               the first waiter of A's cluster gets the lock, those before it
 *               are passed over
 *   A,b,... + s --unlock A--> s,b,...    nobody of A's cluster, or the bound is
 *               reached: the secondary queue goes before the rest
 *   A + s       --unlock A--> s          the main queue is used up
 *
 * Invariants: only the holder changes the secondary queue, and links of the main
 * one other than the last; a node is granted once.
 *
 * Written from the description in Dice and Kogan, "Compact NUMA-aware Locks",
 * EuroSys 2019. Left out: random numbers. The paper hands over to the secondary
 * queue with a small probability; here it is after 4 * osq_node_max hand-overs in a
 * cluster while others wait, 256 unless somebody sets the knob. Of the
 * kernel series (v15, 2021) the bound of 10 ms instead, and the preference for
 * waiters in interrupts. A cluster is what the simulation says, the CPUs of one
 * cache or of one NUMA node; the paper's is the NUMA node.
 */
#include "catalogue.h"
#include "knobs.h"
#include "rival_node.h"

struct lk_cna {
	struct lk_rival_node *tail;
};

#define NONE ((uintptr_t)1)
/* Of a holder that found the lock free: it did not ask. */
#define UNKNOWN (~0u)

static inline struct lk_rival_node *secondary(struct lk_rival_node *node)
{
	uintptr_t state = READ_ONCE(node->state);

	return state == NONE ? NULL : (struct lk_rival_node *)state;
}

static void lock(void *lock)
{
	struct lk_cna *cna = lock;
	struct lk_rival_node *node = lk_rival_push(), *before;

	WRITE_ONCE(node->count, 0);
	/* [cna.A] ACQUIRE, pairs with cna.E: see the last holder's writes, or find
	 * the node before us clean. */
	before = xchg_acquire(&cna->tail, node);
	if (!before) {
		WRITE_ONCE(node->cluster, UNKNOWN);
		WRITE_ONCE(node->state, NONE);
		return;
	}
	WRITE_ONCE(node->cluster, this_cluster());
	/* [cna.B] RELEASE, pairs with cna.F: our cluster is known. */
	smp_store_release(&before->next, node);
	/* [cna.C] ACQUIRE, pairs with cna.D: see the last holder's writes. */
	smp_cond_load_acquire(&node->state, VAL);
}

static bool trylock(void *lock)
{
	struct lk_cna *cna = lock;
	struct lk_rival_node *node, *free = NULL;

	if (READ_ONCE(cna->tail))
		return false;
	node = lk_rival_try_push();
	if (unlikely(!node))
		return false;
	WRITE_ONCE(node->count, 0);
	WRITE_ONCE(node->cluster, UNKNOWN);
	WRITE_ONCE(node->state, NONE);
	/* The node is published by the exchange. [cna.A] */
	if (try_cmpxchg_acquire(&cna->tail, &free, node))
		return true;
	lk_rival_pop();
	return false;
}

static inline void grant(struct lk_rival_node *node, uintptr_t state, u32 count)
{
	WRITE_ONCE(node->count, count);
	/* [cna.D] RELEASE, pairs with cna.C: publish the section. */
	smp_store_release(&node->state, state);
}

/* Puts the nodes from @first to @last behind the secondary queue. */
static void pass_over(struct lk_rival_node *node, struct lk_rival_node *first,
		      struct lk_rival_node *last)
{
	struct lk_rival_node *head = secondary(node);

	WRITE_ONCE(last->next, NULL);
	if (head) {
		WRITE_ONCE(READ_ONCE(head->tail)->next, first);
	} else {
		head = first;
		WRITE_ONCE(node->state, (uintptr_t)first);
	}
	WRITE_ONCE(head->tail, last);
}

/* The first waiter of our cluster; those before it are passed over. */
static struct lk_rival_node *find_local(struct lk_rival_node *node,
					struct lk_rival_node *first)
{
	u32 here = READ_ONCE(node->cluster);
	struct lk_rival_node *cur, *before = NULL;

	if (here == UNKNOWN)
		here = this_cluster();
	for (cur = first; cur; cur = smp_load_acquire(&cur->next)) {
		/* [cna.F] ACQUIRE, pairs with cna.B: the loads of next. */
		if (READ_ONCE(cur->cluster) == here) {
			if (before)
				pass_over(node, first, before);
			return cur;
		}
		before = cur;
	}
	return NULL;
}

/* Nobody is linked behind the holder: true if that was true. */
static bool leave_empty(struct lk_cna *cna, struct lk_rival_node *node)
{
	struct lk_rival_node *head = secondary(node), *self = node;
	struct lk_rival_node *last = head ? READ_ONCE(head->tail) : NULL;

	/* [cna.E] RELEASE, pairs with cna.A: publish the section. */
	if (!try_cmpxchg_release(&cna->tail, &self, last))
		return false;
	if (head)
		grant(head, NONE, 0);
	return true;
}

static void unlock(void *lock)
{
	struct lk_rival_node *node = lk_rival_top(), *next, *local, *head;
	u32 count = READ_ONCE(node->count);

	/* [cna.F] */
	next = smp_load_acquire(&node->next);
	if (!next) {
		if (leave_empty(lock, node))
			goto out;
		/* [cna.F] */
		next = smp_cond_load_acquire(&node->next, VAL);
	}
	local = count < 4 * knob(osq_node_max) ? find_local(node, next) : NULL;
	head = secondary(node);
	if (local) {
		grant(local, READ_ONCE(node->state), head ? count + 1 : 0);
	} else if (head) {
		WRITE_ONCE(READ_ONCE(head->tail)->next, next);
		grant(head, NONE, 0);
	} else {
		grant(next, NONE, 0);
	}
out:
	lk_rival_pop();
}

static void init(void *lock)
{
	((struct lk_cna *)lock)->tail = NULL;
}

const struct lk_ops lk_cna_ops = {
	.name = "cna",
	.summary =
		"CNA (2019): an MCS queue in two, the holder's cluster first",
	.size = sizeof(struct lk_cna),
	.align = _Alignof(struct lk_cna),
	.flags = LK_KEEPS_NODE | LK_CLUSTERS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
