// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* mcs_lock.h has states, invariants and sources. */
#include "catalogue.h"
#include "mcs_lock.h"

struct lk_mcs_node {
	struct lk_mcs_node *next;
	u32 granted;
};

DEFINE_WAIT_NODES(struct lk_mcs_node, mcs_nodes);

/* A node for one more lock, clean, or NULL: there is none for this thread. */
static struct lk_mcs_node *push_node(void)
{
	struct lk_mcs_node *node;
	u32 slot, level;

	queue_enter(); /* until the node is no longer ours */
	slot = this_slot();
	level = wait_depth(mcs_nodes);
	if (unlikely(!slot || level >= LKP_MAX_NEST)) {
		queue_exit();
		return NULL;
	}
	wait_depth(mcs_nodes)++;
	barrier(); /* a signal handler's lock from here on is one level up */
	node = wait_node(mcs_nodes, slot, level);
	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->granted, 0);
	/* [mcs.A] WMB, pairs with mcs.B and mcs.E: the node is clean before it
	 * can be found. */
	smp_wmb();
	return node;
}

static inline void pop_node(void)
{
	barrier();
	wait_depth(mcs_nodes)--;
	queue_exit();
}

void lk_mcs_lock(struct lk_mcs *lock)
{
	struct lk_mcs_node *node, *before;
	u32 rounds = 0;

	while (unlikely(!(node = push_node())))
		cpu_relax_wait(&rounds);

	/* [mcs.B] ACQUIRE, pairs with mcs.A and mcs.D: see the last holder's
	 * writes, or find the node before us clean. */
	before = xchg_acquire(&lock->tail, node);
	if (!before)
		return;
	WRITE_ONCE(before->next, node);
	/* [mcs.C] ACQUIRE, pairs with mcs.F: see the last holder's writes. */
	smp_cond_load_acquire(&node->granted, VAL);
}

bool lk_mcs_trylock(struct lk_mcs *lock)
{
	struct lk_mcs_node *node, *free = NULL;

	if (READ_ONCE(lock->tail))
		return false;
	node = push_node();
	if (unlikely(!node))
		return false;
	/* [mcs.B] */
	if (try_cmpxchg_acquire(&lock->tail, &free, node))
		return true;
	pop_node();
	return false;
}

void lk_mcs_unlock(struct lk_mcs *lock)
{
	u32 level = wait_depth(mcs_nodes) - 1;
	struct lk_mcs_node *node = wait_node(mcs_nodes, this_slot(), level);
	struct lk_mcs_node *tail = node, *next;

	/* [mcs.D] RELEASE, pairs with mcs.B: publish the critical section. */
	if (READ_ONCE(node->next) ||
	    !try_cmpxchg_release(&lock->tail, &tail, NULL)) {
		/* [mcs.E] ACQUIRE, pairs with mcs.A: granted is clean before it
		 * is set. The node that took the tail is about to be linked. */
		next = smp_cond_load_acquire(&node->next, VAL);
		/* [mcs.F] RELEASE, pairs with mcs.C: as mcs.D. */
		smp_store_release(&next->granted, 1);
	}
	pop_node();
}

static void init(void *lock)
{
	*(struct lk_mcs *)lock = (struct lk_mcs)LK_MCS_INIT;
}

static void lock(void *lock)
{
	lk_mcs_lock(lock);
}

static bool trylock(void *lock)
{
	return lk_mcs_trylock(lock);
}

static void unlock(void *lock)
{
	lk_mcs_unlock(lock);
}

/* The last node; the holder's own counts. */
static u64 last_waiter(const void *lock)
{
	return (uintptr_t)READ_ONCE(((const struct lk_mcs *)lock)->tail);
}

const struct lk_ops lk_mcs_ops = {
	.name = "mcs_lock",
	.summary = "MCS queue lock: FIFO; each waiter spins on its own line",
	.size = sizeof(struct lk_mcs),
	.align = _Alignof(struct lk_mcs),
	.flags = LK_FIFO | LK_KEEPS_NODE,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
	.last_waiter = last_waiter,
};
