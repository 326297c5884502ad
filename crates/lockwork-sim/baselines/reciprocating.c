// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Reciprocating lock: one word, a stack of arrivals that is served in segments.
 *
 *   arrivals  NULL: free. EMPTY: held, and nobody has arrived. Else the last
 *             arrival, or the node of a holder that found the lock free
 *   state     of a node, its gate: 0 it waits; else it holds, and this is the
 *             segment's end
 *   next      of a holder: who arrived before it; its successor, unless that is
 *             the segment's end
 *   tail      of a holder: the segment's end, what arrivals is while nobody comes
 *
 *   NULL --lock A--> A --lock b--> b>A --lock c--> c>b>A
 *   c>b>A --unlock A--> EMPTY, and c has the lock: the segment c>b ends at A
 *   EMPTY --lock d--> d>EMPTY --unlock c--> b has the lock, d goes on waiting
 *   d>EMPTY --unlock b--> EMPTY, and d has it --unlock d--> NULL
 *
 * Invariants: only the holder takes arrivals away, all of them at once; the end of
 * a segment is compared and never followed; an arrival is passed at most once by
 * each other thread.
 *
 * Written from the description in Dice and Kogan, "Reciprocating Locks", PPoPP 2025
 * (arXiv 2501.02380). An excerpt of its listing was seen beside the text. Left out: the variants without a context from lock to unlock;
 * here that context is in the node, which the holder keeps.
 */
#include "catalogue.h"
#include "rival_node.h"

struct lk_reciprocating {
	struct lk_rival_node *arrivals;
};

#define EMPTY ((struct lk_rival_node *)1)

static inline void hold(struct lk_rival_node *node, struct lk_rival_node *next,
			struct lk_rival_node *end)
{
	WRITE_ONCE(node->next, next);
	WRITE_ONCE(node->tail, end);
}

static void lock(void *lock)
{
	struct lk_reciprocating *r = lock;
	struct lk_rival_node *node = lk_rival_push(), *before, *end;

	/* [reciprocating.A] ACQUIRE, pairs with reciprocating.D: see the last
	 * holder's writes, or find the node before us clean. */
	before = xchg_acquire(&r->arrivals, node);
	if (!before) {
		hold(node, NULL, node);
		return;
	}
	/* [reciprocating.B] ACQUIRE, pairs with reciprocating.C: see the last
	 * holder's writes. */
	end = (struct lk_rival_node *)smp_cond_load_acquire(&node->state, VAL);
	if (before == end)
		hold(node, NULL, EMPTY);
	else
		hold(node, before, end);
}

static bool trylock(void *lock)
{
	struct lk_reciprocating *r = lock;
	struct lk_rival_node *node, *free = NULL;

	if (READ_ONCE(r->arrivals))
		return false;
	node = lk_rival_try_push();
	if (unlikely(!node))
		return false;
	/* [reciprocating.A] */
	if (try_cmpxchg_acquire(&r->arrivals, &free, node)) {
		hold(node, NULL, node);
		return true;
	}
	lk_rival_pop();
	return false;
}

static inline void grant(struct lk_rival_node *node, struct lk_rival_node *end)
{
	/* [reciprocating.C] RELEASE, pairs with reciprocating.B: publish the
	 * section. */
	smp_store_release(&node->state, (uintptr_t)end);
}

static void unlock(void *lock)
{
	struct lk_reciprocating *r = lock;
	struct lk_rival_node *node = lk_rival_top();
	struct lk_rival_node *next = READ_ONCE(node->next);
	struct lk_rival_node *end = READ_ONCE(node->tail), *seen = end;

	if (next) {
		grant(next, end);
	} else if (READ_ONCE(r->arrivals) != end ||
		   /* [reciprocating.D] RELEASE, pairs with reciprocating.A:
		    * publish the section. */
		   !try_cmpxchg_release(&r->arrivals, &seen, NULL)) {
		/* [reciprocating.A] */
		grant(xchg_acquire(&r->arrivals, EMPTY), end);
	}
	lk_rival_pop();
}

static void init(void *lock)
{
	((struct lk_reciprocating *)lock)->arrivals = NULL;
}

const struct lk_ops lk_reciprocating_ops = {
	.name = "reciprocating",
	.summary = "Reciprocating lock (2025): arrivals are served in segments",
	.size = sizeof(struct lk_reciprocating),
	.align = _Alignof(struct lk_reciprocating),
	.flags = LK_KEEPS_NODE,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
