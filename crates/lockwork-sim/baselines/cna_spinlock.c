// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * CNA as it was proposed for Linux: the queue of a queued spinlock of 4 bytes.
 *
 *   locked, pending   as in qspinlock.h: a lone waiter waits on the word
 *   tail     the code of the last node of the main queue; 0: nobody queues
 *   state    of a node: 0 it waits; ALONE it is the head, and nobody is put aside;
 *            else it is the head, and this is the last node of those put aside, whose
 *            next is the first of them
 *   cluster  of a waiter: its own; of a head: the preferred one
 *   count    of a head: hand-overs since somebody was put aside; AGAIN: those put
 *            aside have just come back
 *   role     of a node: its code
 *   vcpu     of a node: how often it has been a head that could begin to put aside
 *
 * Where pending_rounds() is 0 nobody waits as pending.
 *
 *   A,b,c,B + ()    the head A waits for the lock, and meanwhile puts those of other
 *                   clusters aside:
 *   A,B     + b,c   until a waiter of the preferred cluster is its next, or there is
 *                   nobody else
 *   A,B     + b,c --A has the lock--> B + b,c        the head is the next
 *   A,d     + b,c --the same-->       d + b,c        also if it was not put aside in
 *                                                    time; the preference stays
 *   A,d     + b,c --after many hand-overs--> b,c,d + ()
 *   A       + b,c --A has the lock--> b,c + ()       the main queue is used up
 *
 * Invariants: those put aside, and links of the main queue but the last, are changed by
 * the head only; it takes the lock by a store, as nobody sets pending while somebody
 * queues; a node becomes the head once.
 *
 * Written from the texts of the mails "Add NUMA-awareness to qspinlock" (Alex Kogan, v5
 * of 2019-10-16 and v15 of 2021-05-14, 0/6, 3/6 and 6/6), and from qspinlock's mails for
 * the rest. Excerpts of the patches were seen beside the texts; nothing was taken from
 * them. Those put aside come back after 64 * osq_node_max hand-overs: 4096, some
 * milliseconds, unless the knob is set. Then the next head begins to put aside at once.
 * In v15 they come back after 10 ms. With that, simulations would take ten times as long.
 * A head that finds nobody put aside begins with it once in 128 times. Here each thread
 * counts; in v15 it is by chance. Left out: the preference for waiters in interrupts. A
 * cluster is what the simulation says, the CPUs of one cache or of one NUMA node; in the
 * mails it is the NUMA node.
 */
#include "catalogue.h"
#include "knobs.h"
#include "rival_node.h"

struct lk_cna_spin {
	union {
		u32 word;
		struct {
			union {
				u16 half;
				struct {
					u8 locked;
					u8 pending;
				};
			};
			u16 tail;
		};
	};
};

#define LOCKED	    1u
#define LOCKED_MASK 0xffu
#define PENDING	    0x100u
#define BUSY	    0x1ffu
#define TAIL_SHIFT  16
#define BEGINS	    128u

#define ALONE ((uintptr_t)1)
#define AGAIN (~0u)

/* Free, and nobody waits; else the word as it was found. */
static inline bool take(struct lk_cna_spin *cna, u32 *word)
{
	*word = 0;
	/* [cna_spin.A] ACQUIRE, pairs with cna_spin.B: see the last holder's writes. */
	return try_cmpxchg_acquire(&cna->word, word, LOCKED);
}

static bool trylock(void *lock)
{
	struct lk_cna_spin *cna = lock;
	u32 word;

	return !READ_ONCE(cna->word) && take(cna, &word);
}

/* False: somebody else waits, and it has to queue. */
static bool wait_as_pending(struct lk_cna_spin *cna, u32 word)
{
	u32 rounds = 0, held;

	if (!pending_rounds())
		return false;
	while (word == PENDING && rounds < pending_rounds()) {
		cpu_relax_wait(&rounds);
		word = READ_ONCE(cna->word);
	}
	do {
		if (word & ~LOCKED_MASK)
			return false;
		held = word & LOCKED_MASK;
		/* [cna_spin.A] */
	} while (!try_cmpxchg_acquire(&cna->word, &word,
				      word | (held ? PENDING : LOCKED)));
	if (!held)
		return true;
	/* [cna_spin.C] ACQUIRE, pairs with cna_spin.B. */
	smp_cond_load_acquire(&cna->locked, !VAL);
	WRITE_ONCE(cna->half, (u16)LOCKED);
	return true;
}

/* The last of those put aside; NULL: nobody. */
static inline struct lk_rival_node *aside(struct lk_rival_node *head)
{
	uintptr_t state = READ_ONCE(head->state);

	return state == ALONE ? NULL : (struct lk_rival_node *)state;
}

static inline u32 most_handovers(void)
{
	return 64 * knob(osq_node_max);
}

/* Whether the new head puts waiters aside. */
static bool sorts(struct lk_rival_node *head)
{
	u32 heads = READ_ONCE(head->vcpu);

	if (aside(head))
		return READ_ONCE(head->count) < most_handovers();
	if (READ_ONCE(head->count) == AGAIN)
		return true;
	WRITE_ONCE(head->vcpu, heads + 1);
	return heads % BEGINS == 0;
}

/* Puts the next waiter aside, if it is of another cluster and not the last one. */
static bool put_aside(struct lk_rival_node *head)
{
	/* [cna_spin.D] ACQUIRE, pairs with cna_spin.E: its node is clean, and its cluster
	 * known. */
	struct lk_rival_node *next = smp_load_acquire(&head->next), *last, *one;

	if (!next || READ_ONCE(next->cluster) == READ_ONCE(head->cluster))
		return false;
	/* [cna_spin.D] */
	one = smp_load_acquire(&next->next);
	if (!one)
		return false;
	WRITE_ONCE(head->next, one);
	last = aside(head);
	WRITE_ONCE(next->next, last ? READ_ONCE(last->next) : next);
	if (last)
		WRITE_ONCE(last->next, next);
	WRITE_ONCE(head->state, (uintptr_t)next);
	return true;
}

/* The head waits until nobody has the lock; the word then. */
static u32 head_wait(struct lk_cna_spin *cna, struct lk_rival_node *head,
		     bool sort)
{
	u32 word;

	for (;;) {
		/* [cna_spin.F] ACQUIRE, pairs with cna_spin.B. */
		word = smp_load_acquire(&cna->word);
		if (!(word & BUSY))
			return word;
		if (!sort || !put_aside(head))
			cpu_relax();
	}
}

static void grant(struct lk_rival_node *node, uintptr_t state, u32 count)
{
	WRITE_ONCE(node->count, count);
	/* [cna_spin.G] RELEASE, pairs with cna_spin.H: what it is to know as the head, and that
	 * we hold the lock. */
	smp_store_release(&node->state, state);
}

/* Nobody is behind the head, which takes the lock: true if that was true. */
static bool take_as_last(struct lk_cna_spin *cna, struct lk_rival_node *head,
			 u32 word)
{
	struct lk_rival_node *last = aside(head), *first = NULL;
	u32 tail = 0;

	if (last) {
		first = READ_ONCE(last->next);
		tail = READ_ONCE(last->role) << TAIL_SHIFT;
		WRITE_ONCE(last->next, NULL);
	}
	/* [cna_spin.I] full RMW, pairs with cna_spin.B: see the last holder's writes; and
	 * with cna_spin.J: an arrival that finds this tail also finds its link clean. */
	if (try_cmpxchg(&cna->word, &word, tail | LOCKED)) {
		if (first)
			grant(first, ALONE, 0);
		return true;
	}
	if (last)
		WRITE_ONCE(last->next, first);
	return false;
}

/* The head has the lock: makes another one the head. */
static void hand_over(struct lk_rival_node *head, struct lk_rival_node *next)
{
	struct lk_rival_node *last = aside(head), *first;
	u32 count = READ_ONCE(head->count);

	if (!last) {
		grant(next, ALONE, 0);
	} else if (count == AGAIN || count < most_handovers()) {
		WRITE_ONCE(next->cluster, READ_ONCE(head->cluster));
		grant(next, (uintptr_t)last, count == AGAIN ? 1 : count + 1);
	} else {
		first = READ_ONCE(last->next);
		WRITE_ONCE(last->next, next);
		grant(first, ALONE, AGAIN);
	}
}

static void head_take(struct lk_cna_spin *cna, struct lk_rival_node *head)
{
	bool sort = sorts(head);
	u32 word;

	do {
		word = head_wait(cna, head, sort);
		if (word >> TAIL_SHIFT != READ_ONCE(head->role)) {
			WRITE_ONCE(cna->locked, LOCKED);
			/* [cna_spin.D] */
			hand_over(head,
				  smp_cond_load_acquire(&head->next, VAL));
			return;
		}
	} while (!take_as_last(cna, head, word));
}

static void lock_queued(struct lk_cna_spin *cna)
{
	struct lk_rival_node *node = lk_rival_push(), *before;
	u32 code = lk_rival_code(), old;

	WRITE_ONCE(node->cluster, this_cluster());
	WRITE_ONCE(node->role, code);
	WRITE_ONCE(node->count, 0);
	if (trylock(cna))
		goto out;
	/* [cna_spin.K] WMB, pairs with cna_spin.J: the node is clean before it can be
	 * found. */
	smp_wmb();
	/* [cna_spin.J] ACQUIRE, pairs with cna_spin.K and .I: find the one before us clean. */
	old = xchg_acquire(&cna->tail, (u16)code);
	if (old) {
		before = lk_rival_decode(old);
		/* [cna_spin.E] RELEASE, pairs with cna_spin.D. */
		smp_store_release(&before->next, node);
		/* [cna_spin.H] ACQUIRE, pairs with cna_spin.G. */
		smp_cond_load_acquire(&node->state, VAL);
	} else {
		WRITE_ONCE(node->state, ALONE);
	}
	head_take(cna, node);
out:
	lk_rival_pop();
}

static void lock(void *lock)
{
	u32 word;

	if (unlikely(!take(lock, &word)) && !wait_as_pending(lock, word))
		lock_queued(lock);
}

static void unlock(void *lock)
{
	/* [cna_spin.B] RELEASE, pairs with cna_spin.A, .C, .F and .I: publish the section. */
	smp_store_release(&((struct lk_cna_spin *)lock)->locked, 0);
}

static void init(void *lock)
{
	((struct lk_cna_spin *)lock)->word = 0;
}

const struct lk_ops lk_cna_spinlock_ops = {
	.name = "cna_spinlock",
	.summary = "CNA as proposed for Linux (2021): a queued spinlock whose "
		   "head puts other clusters aside",
	.size = sizeof(struct lk_cna_spin),
	.align = _Alignof(struct lk_cna_spin),
	.flags = LK_CLUSTERS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
