// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Malthusian MCS lock: surplus waiters are put aside, and few threads circulate.
 *
 *   tail    the last node of the queue; NULL: free. The first one holds
 *   first, last  those put aside, the latest first; linked by link and tail;
 *           the holder's
 *   turns   unlocks since one put aside was let in for fairness; the holder's
 *   state   of a node: 0 it waits; 1 granted
 *
 *   A,b,c,... + s --unlock A--> c,... + b,s    b is surplus: others are behind it
 *   A,b       + s --unlock A--> b     + s
 *   A         + s --unlock A--> s              nobody else wants it
 *   A,b,...   + s,z --unlock A, for once-----> z,b,... + s
 *
 * Invariants: only the holder changes the list; a node is in the queue or on the
 * list; a node is granted once.
 *
 * Written from the description of MCSCR in Dice, "Malthusian Locks", EuroSys 2017.
 * Left out: parking; those put aside spin (the paper's variant -S). The paper draws
 * one unlock in 1000 for fairness; here each one after 32 * osq_keep_times is it,
 * 1024 unless somebody sets the knob.
 */
#include "catalogue.h"
#include "knobs.h"
#include "rival_node.h"

struct lk_malthusian {
	struct lk_rival_node *tail;
	struct lk_rival_node *first, *last;
	u32 turns;
};

static void lock(void *lock)
{
	struct lk_malthusian *m = lock;
	struct lk_rival_node *node = lk_rival_push(), *before;

	/* [malthusian.A] ACQUIRE, pairs with malthusian.C and rival_node.A: see
	 * the last holder's writes, or find the node before us clean. */
	before = xchg_acquire(&m->tail, node);
	if (!before)
		return;
	WRITE_ONCE(before->next, node);
	/* [malthusian.B] ACQUIRE, pairs with malthusian.E: the last holder's
	 * writes. */
	smp_cond_load_acquire(&node->state, VAL);
}

static bool trylock(void *lock)
{
	struct lk_malthusian *m = lock;
	struct lk_rival_node *node, *free = NULL;

	if (READ_ONCE(m->tail))
		return false;
	node = lk_rival_try_push();
	if (unlikely(!node))
		return false;
	/* [malthusian.A] */
	if (try_cmpxchg_acquire(&m->tail, &free, node))
		return true;
	lk_rival_pop();
	return false;
}

/* -- the list ------------------------------------------------------------ */

static void put_aside(struct lk_malthusian *m, struct lk_rival_node *node)
{
	struct lk_rival_node *first = READ_ONCE(m->first);

	WRITE_ONCE(node->link, first);
	WRITE_ONCE(node->tail, NULL);
	if (first)
		WRITE_ONCE(first->tail, node);
	else
		WRITE_ONCE(m->last, node);
	WRITE_ONCE(m->first, node);
}

static void take_off(struct lk_malthusian *m, struct lk_rival_node *node)
{
	struct lk_rival_node *older = READ_ONCE(node->link);
	struct lk_rival_node *newer = READ_ONCE(node->tail);

	if (older)
		WRITE_ONCE(older->tail, newer);
	else
		WRITE_ONCE(m->last, newer);
	if (newer)
		WRITE_ONCE(newer->link, older);
	else
		WRITE_ONCE(m->first, older);
}

/* -- unlocking ----------------------------------------------------------- */

/* Nobody is linked behind us: the one last put aside is next, or it is free. */
static bool leave_empty(struct lk_malthusian *m, struct lk_rival_node *node,
			struct lk_rival_node **next)
{
	struct lk_rival_node *self = node, *aside = READ_ONCE(m->first);

	if (aside)
		WRITE_ONCE(aside->next, NULL);
	/* [malthusian.C] RELEASE, pairs with malthusian.A: publish the section, or
	 * that the node is the queue's last. */
	if (!try_cmpxchg_release(&m->tail, &self, aside))
		return false;
	if (aside)
		take_off(m, aside);
	*next = aside;
	return true;
}

/* From time to time the oldest goes before the queue. */
static struct lk_rival_node *oldest_for_once(struct lk_malthusian *m)
{
	struct lk_rival_node *oldest = READ_ONCE(m->last);
	u32 turns = READ_ONCE(m->turns) + 1;

	if (oldest && turns >= 32 * knob(osq_keep_times)) {
		take_off(m, oldest);
		WRITE_ONCE(m->turns, 0);
		return oldest;
	}
	WRITE_ONCE(m->turns, turns);
	return NULL;
}

/* Who gets the lock; NULL: it is free. */
static struct lk_rival_node *choose(struct lk_malthusian *m,
				    struct lk_rival_node *node)
{
	struct lk_rival_node *next, *behind, *oldest;

	/* [malthusian.D] ACQUIRE, pairs with rival_node.A: the node is clean. */
	next = smp_load_acquire(&node->next);
	if (!next) {
		if (leave_empty(m, node, &next))
			return next;
		/* [malthusian.D] */
		next = smp_cond_load_acquire(&node->next, VAL);
	}
	oldest = oldest_for_once(m);
	if (oldest) {
		WRITE_ONCE(oldest->next, next);
		return oldest;
	}
	/* [malthusian.D] */
	behind = smp_load_acquire(&next->next);
	if (!behind)
		return next;
	put_aside(m, next);
	return behind;
}

static void unlock(void *lock)
{
	struct lk_rival_node *next = choose(lock, lk_rival_top());

	/* [malthusian.E] RELEASE, pairs with malthusian.B: publish the section. */
	if (next)
		smp_store_release(&next->state, 1);
	lk_rival_pop();
}

static void init(void *lock)
{
	*(struct lk_malthusian *)lock = (struct lk_malthusian){ 0 };
}

const struct lk_ops lk_malthusian_ops = {
	.name = "malthusian",
	.summary = "Malthusian MCS lock (2017): surplus waiters are put aside",
	.size = sizeof(struct lk_malthusian),
	.align = _Alignof(struct lk_malthusian),
	.flags = LK_KEEPS_NODE,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
