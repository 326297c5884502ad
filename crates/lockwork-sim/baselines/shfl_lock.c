// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * ShflLock, the spinning one: a byte, and a queue that waiters regroup.
 *
 *   locked   the lock itself
 *   closed   1: a queue waits, and arrivals may not take the byte. May be stale
 *            clear for a moment: an arrival may pass the queue then
 *   tail     the last node; NULL: no queue. A holder has no node
 *   state    of a node: 0 it waits; HEAD
 *   count    of a node: its place in the batch of its cluster; 0: in none
 *   role     1: it regroups those behind it while it waits, the shuffler
 *
 *   (0,0,NULL) --lock--> (1,0,NULL)                 one compare-and-exchange
 *   (1,0,NULL) --lock A--> (1,1,A)                  the head, and the shuffler
 *   A,b,B,... --A shuffles--> A,B,b,...             B is the shuffler now
 *   (0,1,A..) --A--> (1,1,..)                       and its next is the head
 *
 * Invariants: only the head changes locked from 0 while closed; there is one
 * shuffler at most, and it changes links behind itself only, of nodes that have a
 * next; a batch has 16 * osq_node_max waiters at most.
 *
 * Written from the description in Kashyap, Calciu, Cheng, Min and Kim, "Scalable and
 * Practical Locking with Shuffling", SOSP 2019. Left out: the sleeping variants, and
 * the reader-writer one. Assumed: the batch's limit, 1024.
 */
#include "catalogue.h"
#include "knobs.h"
#include "rival_node.h"

struct lk_shfl {
	union {
		u16 word;
		struct {
			u8 locked;
			u8 closed;
		};
	};
	struct lk_rival_node *tail;
};

#define LOCKED 1u
#define HEAD   ((uintptr_t)1)

static bool trylock(void *lock)
{
	struct lk_shfl *shfl = lock;
	u16 free = 0;

	/* [shfl.A] ACQUIRE, pairs with shfl.B: see the last holder's writes. */
	return !READ_ONCE(shfl->word) &&
	       try_cmpxchg_acquire(&shfl->word, &free, LOCKED);
}

/* -- shuffling ----------------------------------------------------------- */

/* Takes @cur, behind @before, out of its place and puts it behind @last. */
static void move(struct lk_rival_node *last, struct lk_rival_node *before,
		 struct lk_rival_node *cur, struct lk_rival_node *next)
{
	WRITE_ONCE(before->next, next);
	WRITE_ONCE(cur->next, READ_ONCE(last->next));
	WRITE_ONCE(last->next, cur);
}

/* Our turn has come: there is something better to do than to shuffle. */
static inline bool is_wanted(struct lk_shfl *shfl, struct lk_rival_node *node)
{
	return READ_ONCE(node->state) && !READ_ONCE(shfl->locked);
}

/* One walk over the queue behind the shuffler @node. */
static void shuffle(struct lk_shfl *shfl, struct lk_rival_node *node)
{
	u32 here = READ_ONCE(node->cluster), count = READ_ONCE(node->count);
	struct lk_rival_node *last = node, *before = node, *cur, *next;

	/* [shfl.C] ACQUIRE, pairs with shfl.D: the next node's cluster. */
	while (count < 16 * knob(osq_node_max) && !is_wanted(shfl, node) &&
	       (cur = smp_load_acquire(&before->next))) {
		/* [shfl.C] */
		next = smp_load_acquire(&cur->next);
		if (!next)
			break; /* the last one stays where it is */
		if (READ_ONCE(cur->cluster) != here) {
			before = cur;
			continue;
		}
		WRITE_ONCE(cur->count, ++count);
		if (before == last)
			before = cur;
		else
			move(last, before, cur, next);
		last = cur;
	}
	if (last == node)
		return;
	WRITE_ONCE(node->role, 0);
	/* [shfl.E] RELEASE, pairs with shfl.F: the links are as we made them. */
	smp_store_release(&last->role, 1);
}

static inline void shuffle_if_asked(struct lk_shfl *shfl,
				    struct lk_rival_node *node)
{
	/* [shfl.F] ACQUIRE, pairs with shfl.E. */
	if (smp_load_acquire(&node->role))
		shuffle(shfl, node);
}

/* -- the queue ----------------------------------------------------------- */

static void wait_in_queue(struct lk_shfl *shfl, struct lk_rival_node *node,
			  struct lk_rival_node *before)
{
	u32 rounds = 0;

	/* [shfl.D] RELEASE, pairs with shfl.C and .G: the node is clean, its
	 * cluster known. */
	smp_store_release(&before->next, node);
	/* [shfl.H] ACQUIRE, pairs with shfl.I. */
	while (!smp_load_acquire(&node->state)) {
		shuffle_if_asked(shfl, node);
		cpu_relax_wait(&rounds);
	}
}

static void take_as_head(struct lk_shfl *shfl, struct lk_rival_node *node)
{
	u32 rounds = 0;
	u8 locked;

	WRITE_ONCE(node->state, HEAD);
	if (!READ_ONCE(node->count))
		WRITE_ONCE(node->role, 1); /* the first of its batch */
	for (;;) {
		locked = 0;
		/* [shfl.A] */
		if (!READ_ONCE(shfl->locked) &&
		    try_cmpxchg_acquire(&shfl->locked, &locked, LOCKED))
			return;
		shuffle_if_asked(shfl, node);
		cpu_relax_wait(&rounds);
	}
}

/* True: nobody is behind the head, and there is no queue any more. */
static bool leave_empty(struct lk_shfl *shfl, struct lk_rival_node *node)
{
	struct lk_rival_node *self = node;

	WRITE_ONCE(shfl->closed, 0);
	/* [shfl.J] RELEASE, pairs with shfl.K: the next to close it does so after
	 * us. */
	if (try_cmpxchg_release(&shfl->tail, &self, NULL))
		return true;
	WRITE_ONCE(shfl->closed, 1);
	return false;
}

static void lock_queued(struct lk_shfl *shfl, struct lk_rival_node *node)
{
	struct lk_rival_node *before, *next;

	WRITE_ONCE(node->cluster, this_cluster());
	WRITE_ONCE(node->count, 0);
	WRITE_ONCE(node->role, 0);
	/* [shfl.L] WMB, pairs with shfl.K: the node is clean before it can be
	 * found. */
	smp_wmb();
	/* [shfl.K] ACQUIRE, pairs with shfl.J and .L. */
	before = xchg_acquire(&shfl->tail, node);
	if (before)
		wait_in_queue(shfl, node, before);
	else
		WRITE_ONCE(shfl->closed, 1);
	take_as_head(shfl, node);
	if (!READ_ONCE(node->next) && leave_empty(shfl, node))
		return;
	/* [shfl.G] ACQUIRE, pairs with shfl.D. */
	next = smp_cond_load_acquire(&node->next, VAL);
	/* [shfl.I] RELEASE, pairs with shfl.H: we hold; our links are made. */
	smp_store_release(&next->state, HEAD);
}

static void lock(void *lock)
{
	if (likely(trylock(lock)))
		return;
	lock_queued(lock, lk_rival_push());
	lk_rival_pop();
}

static void unlock(void *lock)
{
	/* [shfl.B] RELEASE, pairs with shfl.A: publish the section. */
	smp_store_release(&((struct lk_shfl *)lock)->locked, 0);
}

static void init(void *lock)
{
	*(struct lk_shfl *)lock = (struct lk_shfl){ 0 };
}

const struct lk_ops lk_shfl_lock_ops = {
	.name = "shfl_lock",
	.summary = "ShflLock (2019), spinning: waiters regroup the queue by "
		   "cluster",
	.size = sizeof(struct lk_shfl),
	.align = _Alignof(struct lk_shfl),
	.flags = LK_CLUSTERS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
