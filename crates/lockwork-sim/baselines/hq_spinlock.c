// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * HQ-spinlock: a queued spinlock that is hierarchical while clusters contend.
 *
 *   locked  the lock itself, whichever queue its taker comes from
 *   pending somebody waits on the word, before any queue; nobody does where
 *           pending_rounds() is 0
 *   entry   0: arrivals use the one queue; else those of pool[entry - 1]
 *   tail    the code of the last waiter of the one queue; 0: nobody
 *   count   of a waiter of the one queue that is its head: hand-overs to another
 *           cluster so far
 *   lonely  of the holder: times in a row that nobody waited behind the taker
 *
 *   (locked, entry, tail), pending left out:
 *
 *   (0,0,0) --lock--> (1,0,0)                        one compare-and-exchange
 *   (1,0,0) --lock--> (1,0,0)                        pending is set, if it was not
 *   (1,0,0) --lock A--> (1,0,A)                      it was; A heads the one queue
 *   (0,0,A) --A--> (1,0,0)                           or its next is the head
 *   (*,0,*) --hand-overs between clusters--> (*,e,*)
 *   (*,e,*) --lock--> a queue of its cluster, as in cohort.h; the first of all
 *                     waits until the one queue has drained and the lock is free
 *   (1,e,0) --nobody waited for long--> (1,0,0)
 *
 * Invariants: who changes locked from 0 holds; while pending is set only its owner
 * does; at most one thread of each queue, and the owner of pending, wait on the word;
 * an entry of the pool belongs to one lock for good.
 *
 * Written from the cover letter and the text of the mails "hq-spinlock" (RFC v3,
 * 2026-04-15, 0/7 and 3/7) and from qspinlock's mails for the plain queue. Excerpts
 * of the patches were seen beside the text; nothing was taken from them. Left out: how
 * an entry is found by the hash of the lock's address, and that it is given back: this
 * looks through the pool; the second count by which remote hand-overs are weighed; that
 * all is in 4 bytes. Assumed, because the texts give no values: the one queue is left
 * after osq_keep_times hand-overs between clusters in a row, and used again after half
 * as many takers with nobody behind them. Hand-overs in a cluster: as cohort.h.
 */
#include "catalogue.h"
#include "cohort.h"
#include "knobs.h"

struct lk_hq {
	union {
		u64 word;
		struct {
			union {
				u16 half;
				struct {
					u8 locked;
					u8 pending;
				};
			};
			u16 tail;
			u8 entry;
		};
	};
	u32 lonely; /* of the holder */
};

#define LOCKED	1ull
#define PENDING 0x100ull
#define ENTRIES 16u

#define HEAD ((uintptr_t)1)

static struct {
	struct lk_hq *owner;
	struct lk_cohort queues;
} pool[ENTRIES];

/* From free to held, if nobody is pending; the rest of the word stays. */
static inline bool take(struct lk_hq *hq)
{
	u16 half = 0;

	/* [hq.A] ACQUIRE, pairs with hq.B: see the last holder's writes. */
	return !READ_ONCE(hq->half) &&
	       try_cmpxchg_acquire(&hq->half, &half, (u16)LOCKED);
}

/* Waits on @word. False: somebody else waits, and it has to queue. */
static bool wait_as_pending(struct lk_hq *hq, u64 word)
{
	/* Orders nothing: it waits for the lock by hq.H. */
	if (!pending_rounds() || word != LOCKED ||
	    !try_cmpxchg_relaxed(&hq->word, &word, LOCKED | PENDING))
		return false;
	/* [hq.H] ACQUIRE, pairs with hq.B. */
	smp_cond_load_acquire(&hq->locked, !VAL);
	WRITE_ONCE(hq->half, (u16)LOCKED);
	return true;
}

/* The entry for this lock, from 1; 0: all are in use. */
static u32 claim_entry(struct lk_hq *hq)
{
	struct lk_hq *owner;
	u32 i;

	for (i = 0; i < ENTRIES; i++) {
		owner = READ_ONCE(pool[i].owner);
		/* Orders nothing: its queues are empty, and stay the lock's. */
		if (owner == hq ||
		    (!owner && try_cmpxchg_relaxed(&pool[i].owner, &owner, hq)))
			return i + 1;
	}
	return 0;
}

/* The holder hands the head of the one queue on to @next. */
static void make_head(struct lk_hq *hq, struct lk_rival_node *node,
		      struct lk_rival_node *next)
{
	u32 count = READ_ONCE(node->count);

	count += READ_ONCE(next->cluster) != READ_ONCE(node->cluster);
	if (count >= knob(osq_keep_times) && !READ_ONCE(hq->entry)) {
		WRITE_ONCE(hq->lonely, 0);
		WRITE_ONCE(hq->entry, (u8)claim_entry(hq));
		count = 0;
	}
	WRITE_ONCE(next->count, count);
	/* [hq.C] RELEASE, pairs with hq.D: the count. */
	smp_store_release(&next->state, HEAD);
}

/* Through the one queue. */
static void lock_plain(struct lk_hq *hq, struct lk_rival_node *node)
{
	u16 code = (u16)lk_rival_code(), before, self = code;
	struct lk_rival_node *next;

	WRITE_ONCE(node->cluster, this_cluster());
	WRITE_ONCE(node->count, 0);
	/* [hq.E] WMB, pairs with hq.F and hq.G: the node is clean, and its cluster
	 * known, before it can be found. */
	smp_wmb();
	/* [hq.F] ACQUIRE, pairs with hq.E: find the node before us clean. */
	before = xchg_acquire(&hq->tail, code);
	if (before) {
		WRITE_ONCE(lk_rival_decode(before)->next, node);
		/* [hq.D] ACQUIRE, pairs with hq.C. */
		smp_cond_load_acquire(&node->state, VAL);
	}
	do {
		smp_cond_load_relaxed(&hq->half, !VAL);
	} while (!take(hq));
	/* Orders nothing: the node is ours until somebody is linked. */
	if (!READ_ONCE(node->next) &&
	    try_cmpxchg_release(&hq->tail, &self, (u16)0))
		return;
	/* [hq.G] ACQUIRE, pairs with hq.E. */
	next = smp_cond_load_acquire(&node->next, VAL);
	make_head(hq, node, next);
}

/* The first of all queues of the entry takes the lock. */
static void take_as_first(struct lk_hq *hq)
{
	u32 rounds = 0;

	for (;;) {
		/* Once the one queue is open again, it may never drain. */
		if (!READ_ONCE(hq->entry) || !READ_ONCE(hq->tail)) {
			if (take(hq))
				return;
			smp_cond_load_relaxed(&hq->half, !VAL);
		} else {
			cpu_relax_wait(&rounds);
		}
	}
}

/* Through the queues of clusters. */
static void lock_numa(struct lk_hq *hq, struct lk_rival_node *node, u32 entry)
{
	struct lk_cohort *queues = &pool[entry - 1].queues;
	u32 lonely;

	lk_cohort_enter(queues, node);
	take_as_first(hq);
	if (!lk_cohort_leave(queues, node)) {
		if (READ_ONCE(hq->lonely))
			WRITE_ONCE(hq->lonely, 0);
		return;
	}
	lonely = READ_ONCE(hq->lonely) + 1;
	WRITE_ONCE(hq->lonely, lonely);
	if (lonely >= knob(osq_keep_times) / 2)
		WRITE_ONCE(hq->entry, 0);
}

static void lock_slow(struct lk_hq *hq)
{
	struct lk_rival_node *node = lk_rival_push();
	u32 entry = READ_ONCE(hq->entry);

	if (entry)
		lock_numa(hq, node, entry);
	else
		lock_plain(hq, node);
	lk_rival_pop();
}

/* Free, and nobody waits; else the word as it was found. */
static inline bool take_idle(struct lk_hq *hq, u64 *word)
{
	*word = 0;
	/* [hq.A] */
	return try_cmpxchg_acquire(&hq->word, word, LOCKED);
}

static bool trylock(void *lock)
{
	struct lk_hq *hq = lock;
	u64 word;

	return !READ_ONCE(hq->word) && take_idle(hq, &word);
}

static void lock(void *lock)
{
	u64 word;

	if (unlikely(!take_idle(lock, &word)) && !wait_as_pending(lock, word))
		lock_slow(lock);
}

static void unlock(void *lock)
{
	/* [hq.B] RELEASE, pairs with hq.A and hq.H: publish the section. */
	smp_store_release(&((struct lk_hq *)lock)->locked, 0);
}

static void init(void *lock)
{
	*(struct lk_hq *)lock = (struct lk_hq){ 0 };
}

const struct lk_ops lk_hq_spinlock_ops = {
	.name = "hq_spinlock",
	.summary = "HQ-spinlock (2025): a queued spinlock, hierarchical while "
		   "clusters contend",
	.size = sizeof(struct lk_hq),
	.align = _Alignof(struct lk_hq),
	.flags = LK_CLUSTERS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
