// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* numa_osq.h has states, invariants and sources. */
#include "catalogue.h"
#include "events.h"
#include "knobs.h"
#include "numa_pool.h"

DEFINE_WAIT_NODES(struct numa_node, numa_nodes);

/* -- the lock's word ----------------------------------------------------- */

#define CLOSED	    0xffffu /* as a node's code: the gate */
#define TAIL	    0xffffu
#define DIVIDED	    (1u << 16)
#define CAUTION_AT  17
#define CAUTION_MAX 6u
#define ENTRY_AT    24

static inline bool is_divided(u32 word)
{
	return (word & (DIVIDED | TAIL)) == (DIVIDED | CLOSED);
}

static inline u32 caution_of(u32 word)
{
	return word >> CAUTION_AT & 0x7f;
}

static inline struct numa_entry *entry_of(u32 word)
{
	return &numa_pool[(word >> ENTRY_AT) % NUMA_ENTRIES];
}

/* -- grants -------------------------------------------------------------- */

/*
 * What a waiter is told. HELD: the lock is yours. HEAD: you are the first of
 * your cluster, which is not in the top queue. QUEUED: the same, and it is.
 */
enum { GRANT_HELD = 1, GRANT_HEAD = 2, GRANT_QUEUED = 3 };
#define GRANT_KIND 3u

/* In the one queue: hand-overs since it was last seen short. */
#define RUN_AT	2
#define RUN_MAX (1u << 20)
/* In a cluster: hand-overs since it got the lock, and what division brought. */
#define PASSES_AT  2
#define PASSES_MAX 4095u
#define MERIT_AT   14
#define MERIT_MAX  4095u
#define PROVED	   (1u << 26)

static inline u32 field(u32 grant, u32 at, u32 max)
{
	return grant >> at & max;
}

static inline void tell(struct numa_node *node, u32 grant)
{
	/* [numa_osq.F] RELEASE, pairs with numa_osq.D. */
	smp_store_release(&node->grant, grant);
}

/* -- queues -------------------------------------------------------------- */

/*
 * A queue: the one of the lock, where there is no entry; a cluster's; or the top
 * queue, where there is no cluster.
 */
struct line {
	struct lk_numa_osq *osq;
	struct numa_entry *entry;
	struct numa_cluster *cluster;
	/* What move_tail() found: */
	struct numa_entry *rest; /* the one queue had been divided */
	bool sealed;		 /* the cluster's queue had been sealed */
};

/* Nodes of a slot that 16 bits can name: 65,534 slots would have one each. */
#define LEVELS                                                     \
	(65534 / LW_MAX_SLOTS < LW_MAX_NEST ? 65534 / LW_MAX_SLOTS \
					    : LW_MAX_NEST)

_Static_assert(LEVELS > 0 && LW_MAX_SLOTS * LEVELS < CLOSED,
	       "each slot has a code, and no code is the gate's");

static inline u32 code_of(u32 slot, u32 level)
{
	return (slot - 1) * LEVELS + level + 1;
}

static inline struct numa_node *decode(const struct line *q, u32 code)
{
	if (q->entry && !q->cluster)
		return &q->entry->cluster[code - 1].top;
	if (code == CLOSED)
		return &entry_of(READ_ONCE(q->osq->word))->gate;
	return wait_node(numa_nodes, (code - 1) / LEVELS + 1,
			 (code - 1) % LEVELS);
}

static inline bool move_cluster_tail(struct line *q,
				     struct numa_cluster *cluster, u32 code,
				     u32 before)
{
	/* [numa_osq.V] ACQUIRE, pairs with numa_osq.R: who sees the seal sees
	 * what busy was set to, and subtracts from that. */
	u64 word = smp_load_acquire(&cluster->word);

	if ((word & TAIL) != code)
		return false;
	q->sealed = !(word & CLUSTER_OPEN);
	/* [numa_osq.E] RELEASE, pairs with numa_osq.U: as A; but the last
	 * holder's writes come by the top, what is left is the link that we cut.
	 * Spare relaxed: in the model a store stands behind an RMW of its word
	 * that ran before it; a CPU may have it otherwise. */
	return try_cmpxchg_release(&cluster->word, &word,
				   (word & ~(u64)TAIL) | before);
}

/* If @code is the last in the queue, the last is now @before (0: nobody). */
static bool move_tail(struct line *q, u32 code, u32 before)
{
	u16 *tail = &q->osq->tail, last = (u16)code;
	u32 word;

	if (q->cluster)
		return move_cluster_tail(q, q->cluster, code, before);
	if (q->entry) {
		tail = &q->entry->tail;
		word = READ_ONCE(*tail);
	} else {
		/* Orders nothing: where this word, or the rest's, is an old one
		 * the compare fails, and we look again. */
		word = READ_ONCE(q->osq->word);
		if (is_divided(word)) {
			q->rest = entry_of(word);
			return move_cluster_tail(q, numa_rest(q->rest), code,
						 before);
		}
	}
	/* [numa_osq.A] RELEASE, pairs with numa_osq.B: a new arrival sees the
	 * last holder's writes, and the link that we cut. */
	return (word & TAIL) == code &&
	       try_cmpxchg_release(tail, &last, (u16)before);
}

/*
 * The link to the node behind, if it is there: it cannot leave then while we use
 * it. Not read before: the line comes over once, exclusive.
 */
static inline struct numa_node *take_next(struct numa_node *node)
{
	/* [numa_osq.C] ACQUIRE, pairs with numa_osq.G and .H: before the
	 * neighbour may cut it; and its node is seen as it was when it queued. */
	return xchg_acquire(&node->next, NULL);
}

/*
 * The node behind @node, once it is certain: NULL if the queue now ends at
 * @before (0: it is empty). Takes the link.
 */
static struct numa_node *wait_next(struct line *q, struct numa_node *node,
				   u32 code, u32 before)
{
	struct numa_node *next;
	u32 rounds = 0;

	for (;;) {
		next = take_next(node);
		if (next)
			return next;
		do {
			if (move_tail(q, code, before))
				return NULL;
			cpu_relax_wait(&rounds);
		} while (!READ_ONCE(node->next));
	}
}

/* Leaves the queue. True: too late, something was granted meanwhile. */
static bool unqueue(struct line *q, struct numa_node *node, u32 code)
{
	struct numa_node *prev, *next, *self;
	u32 before = READ_ONCE(node->prev), rounds = 0;

	/* Step A: cut prev->next, so that prev neither grants nor leaves. */
	for (;;) {
		prev = decode(q, before);
		self = node;
		/* Orders nothing: who comes after it sees it by A or G. */
		if (READ_ONCE(prev->next) == node &&
		    try_cmpxchg_relaxed(&prev->next, &self, NULL))
			break;
		/* [numa_osq.D] ACQUIRE, pairs with numa_osq.F. */
		if (smp_load_acquire(&node->grant))
			return true;
		cpu_relax_wait(&rounds);
		/* prev itself may have left: ours is another one now. */
		before = READ_ONCE(node->prev);
	}

	/* Step B: be sure who is behind us, and keep it from leaving. */
	next = wait_next(q, node, code, before);
	if (!next)
		return false;

	/* Step C: join the neighbours. A stale prev is harmless: all that is
	 * done with it is a compare-and-exchange and a look at hints. */
	WRITE_ONCE(next->prev, (u16)before);
	/* [numa_osq.G] RELEASE, pairs with numa_osq.C: prev sees next's node as
	 * we do. */
	smp_store_release(&prev->next, next);
	return false;
}

static inline void clean(struct numa_node *node)
{
	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->grant, 0);
}

/* Behind @old, which was the last. */
static void link(const struct line *q, struct numa_node *node, u32 old)
{
	struct numa_node *prev = decode(q, old);

	WRITE_ONCE(node->prev, (u16)old);
	/* [numa_osq.H] WMB, pairs with numa_osq.C: whoever finds us by
	 * prev->next finds prev in our node. */
	smp_wmb();
	WRITE_ONCE(prev->next, node);
}

/*
 * In the one queue or a cluster's: what was granted, or 0: gave up, and left.
 * Looks at its own node only, but for when there is another one before it: to
 * that one's line its successor writes, and it itself.
 */
static u32 wait_grant(struct line *q, struct numa_node *node, u32 code)
{
	u32 grant, serial, prev, seen = 0, vcpu = 0;
	const struct numa_node *at;

	for (;;) {
		/* [numa_osq.D] */
		grant = smp_load_acquire(&node->grant);
		if (grant)
			return grant;
		prev = READ_ONCE(node->prev);
		if (unlikely(prev != seen)) {
			at = decode(q, prev);
			vcpu = READ_ONCE(at->vcpu);
			seen = prev;
			if (!q->entry && !node->serial) {
				serial = READ_ONCE(at->serial);
				if (serial)
					WRITE_ONCE(node->serial, serial + 1);
				else
					seen = 0; /* it has just come */
			}
		}
		if (need_resched() || vcpu_is_preempted(vcpu)) {
			if (!unqueue(q, node, code))
				return 0;
			return READ_ONCE(node->grant);
		}
		cpu_relax();
	}
}

/* -- the way back -------------------------------------------------------- */

/* Nobody is in a cluster's queue any more, nor will be: passes the gate. */
static void pass_gate(struct lk_numa_osq *osq, struct numa_entry *entry)
{
	struct line q = { .osq = osq };
	struct numa_node *next = wait_next(&q, &entry->gate, CLOSED, 0);

	numa_put(entry);
	if (next)
		tell(next, GRANT_HELD);
}

/* @n of what entry->busy counts are done. */
static void done(struct lk_numa_osq *osq, struct numa_entry *entry, u32 n)
{
	/* [numa_osq.P] RELEASE, pairs with numa_osq.Q. */
	if (atomic_sub_return_release(n, &entry->busy))
		return;
	/* [numa_osq.Q] ACQUIRE, pairs with numa_osq.P: it is 0, and stays so; the
	 * last one sees what the others did with the entry and the lock. */
	atomic_cond_read_acquire(&entry->busy, !VAL);
	pass_gate(osq, entry);
}

/* Lets nobody in any more; returns how many clusters are empty. */
static u32 seal(struct numa_entry *entry)
{
	u32 i, empty = 0;
	u64 word;

	for (i = 0; i < entry->clusters; i++) {
		word = READ_ONCE(entry->cluster[i].word);
		/* [numa_osq.R] full RMW, pairs with numa_osq.L and .V: whoever is
		 * turned away sees the lock's word as we left it, and whoever
		 * leaves sees busy. Spare acq_rel: the kernel has no RMW between
		 * release and full. Spare release: what is left to order are
		 * loads of one that left, before the next use; the model delays
		 * no load. */
		while (!try_cmpxchg(&entry->cluster[i].word, &word,
				    word & ~(u64)CLUSTER_OPEN))
			;
		empty += !(word & TAIL);
	}
	return empty;
}

/*
 * The holder of the top makes one queue of the clusters again: from here on
 * whoever comes queues behind the gate. @proved: it was worth it. Whoever calls
 * this calls done(1) when it has left.
 */
static void join(struct lk_numa_osq *osq, struct numa_entry *entry, bool proved)
{
	u32 word = READ_ONCE(osq->word), caution = caution_of(word), empty;

	if (proved)
		caution = 0;
	else if (caution < CAUTION_MAX)
		caution++;
	WRITE_ONCE(entry->joining, 1);
	/* What has to be done before the gate is passed: each cluster is empty,
	 * and we have left. The rest is gone: it gives the top up to another
	 * only, or is who calls this. */
	atomic_set(&entry->busy, (int)entry->clusters + 1);
	clean(&entry->gate);
	WRITE_ONCE(entry->gate.serial, 1);
	WRITE_ONCE(entry->gate.vcpu, this_vcpu());
	/* [numa_osq.S] RELEASE, pairs with numa_osq.B: the gate is clean. */
	smp_store_release(&osq->word, CLOSED | caution << CAUTION_AT |
					      (word & 0xffu << ENTRY_AT));
	empty = seal(entry);
	if (empty)
		done(osq, entry, empty);
}

/* -- the top queue ------------------------------------------------------- */

static inline u32 top_code(const struct numa_entry *entry,
			   const struct numa_cluster *cluster)
{
	return (u32)(cluster - entry->cluster) + 1;
}

/*
 * @by, which holds the top, gives it to the cluster behind it. If there is none,
 * the lock becomes one queue again. @next: the link to it, if it was taken.
 * True: done(1) is to be called afterwards.
 *
 * Until joining has begun the top is not given up, though nobody is there: the
 * rest would then have no claim on the entry any more.
 */
static bool release_top(struct lk_numa_osq *osq, struct numa_entry *entry,
			struct numa_cluster *by, struct numa_node *next,
			u32 grant)
{
	struct line top = { .osq = osq, .entry = entry };
	u32 code = top_code(entry, by);
	bool joining = READ_ONCE(entry->joining), ours = false;

	while (!next) {
		if (!joining && READ_ONCE(entry->tail) == code) {
			count_event(LK_EV_numa_closed_idle);
			join(osq, entry, grant & PROVED);
			joining = ours = true;
		}
		next = wait_next(&top, &by->top, code, joining ? 0 : code);
		if (!next && joining)
			return ours;
	}
	count_event(LK_EV_numa_remote);
	tell(next, grant);
	return ours;
}

/* -- a cluster's queue --------------------------------------------------- */

/* The first one in a cluster's queue leaves it; its cluster is not at the top. */
static void leave_cluster(struct line *q, struct numa_node *node, u32 code)
{
	struct numa_node *next = wait_next(q, node, code, 0);

	if (next)
		tell(next, GRANT_HEAD);
	else if (q->sealed)
		done(q->osq, q->entry, 1);
}

/* The first of a cluster gives up while it waits at the top. False: it left. */
static bool leave_top(struct line *q, struct numa_node *node, u32 code)
{
	struct line top = { .osq = q->osq, .entry = q->entry };
	struct numa_node *next;

	/* Who is behind us takes our place there. */
	next = take_next(node);
	if (next) {
		tell(next, GRANT_QUEUED);
		return false;
	}
	if (unqueue(&top, &q->cluster->top, top_code(q->entry, q->cluster)))
		return true;
	leave_cluster(q, node, code);
	return false;
}

static inline u32 first_merit(void)
{
	u32 merit = 2 * knob(osq_keep_times);

	return (merit < MERIT_MAX ? merit : MERIT_MAX) << MERIT_AT;
}

/* As the first of a cluster, in the top queue already or not. */
static bool lock_top(struct line *q, struct numa_node *node, u32 code,
		     u32 grant)
{
	struct line top = { .osq = q->osq, .entry = q->entry };
	struct numa_node *at = &q->cluster->top;
	u32 mine = top_code(q->entry, q->cluster), old;

	if (grant != GRANT_QUEUED) {
		clean(at);
		old = xchg(&q->entry->tail, (u16)mine); /* [numa_osq.B] */
		if (!old) {
			WRITE_ONCE(node->grant, GRANT_HELD | first_merit());
			return true;
		}
		link(&top, at, old);
	}
	for (;;) {
		/* [numa_osq.D] */
		grant = smp_load_acquire(&at->grant);
		if (grant)
			break;
		if (need_resched()) {
			if (!leave_top(q, node, code)) {
				count_event(LK_EV_numa_cancel_top);
				return false;
			}
			grant = READ_ONCE(at->grant);
			break;
		}
		cpu_relax();
	}
	WRITE_ONCE(node->grant, grant);
	return true;
}

enum arrival { LEFT, TAKEN, TURNED_AWAY };

static enum arrival lock_in_cluster(struct lk_numa_osq *osq,
				    struct numa_entry *entry,
				    struct numa_node *node, u32 code)
{
	struct numa_cluster *cluster = numa_here(entry);
	struct line q = { .osq = osq, .entry = entry, .cluster = cluster };
	u64 word;
	u32 grant;

	do {
		/* [numa_osq.L] ACQUIRE, pairs with numa_osq.R and .T: the
		 * owner of this use of the entry. */
		word = smp_load_acquire(&cluster->word);
		if (!(word & CLUSTER_OPEN) || READ_ONCE(entry->owner) != osq)
			return TURNED_AWAY;
		/* [numa_osq.U] full RMW, pairs with numa_osq.E and itself: our
		 * node is clean before it can be found, and the one before us
		 * was before we link to it. Spare acq_rel: the kernel has no RMW
		 * between release and full. Spare release: in the model a store
		 * stands behind one of its word that ran before it. */
	} while (!try_cmpxchg(&cluster->word, &word,
			      (word & ~(u64)TAIL) | code));
	node->entry = entry;
	node->cluster = cluster;

	grant = GRANT_HEAD;
	if (word & TAIL) {
		link(&q, node, word & TAIL);
		grant = wait_grant(&q, node, code);
		if (!grant) {
			count_event(LK_EV_numa_cancel_cluster);
			return LEFT;
		}
	}
	if ((grant & GRANT_KIND) == GRANT_HELD)
		return TAKEN;
	return lock_top(&q, node, code, grant) ? TAKEN : LEFT;
}

/*
 * The holder passes the lock on inside its cluster: true. False: nobody else is
 * there, or it is another cluster's turn (whose link is in @other, if it was
 * there), or the clusters should be one queue.
 */
static bool pass_inside(struct line *q, struct numa_node *node, u32 code,
			u32 grant, struct numa_node **other)
{
	u32 passes = field(grant, PASSES_AT, PASSES_MAX);
	u32 merit = field(grant, MERIT_AT, MERIT_MAX);
	struct numa_node *next;

	if (!READ_ONCE(q->entry->joining) && (!knob(dynamic_enable) || !merit))
		return false;
	if (passes >= knob(osq_node_max)) {
		*other = take_next(&q->cluster->top);
		if (*other ||
		    READ_ONCE(q->entry->tail) != top_code(q->entry, q->cluster))
			return false;
		/* No other cluster waited: these were no merit, but the reverse.
		 * At 0 we find nobody behind us at the top, and join. */
		merit = merit > 2 * passes ? merit - 2 * passes : 0;
		if (!merit)
			return false;
		passes = 0;
	}
	/* The tail stays: who empties the queue must not hold the top. */
	next = wait_next(q, node, code, code);
	if (!next)
		return false;
	if (merit < MERIT_MAX)
		merit++;
	if (merit >= 8 * knob(osq_keep_times) || merit == MERIT_MAX)
		grant |= PROVED;
	count_event(LK_EV_numa_local);
	tell(next, GRANT_HELD | (passes + 1) << PASSES_AT | merit << MERIT_AT |
			   (grant & PROVED));
	return true;
}

static void unlock_in_cluster(struct lk_numa_osq *osq, struct numa_node *node,
			      u32 code)
{
	struct numa_entry *entry = node->entry;
	struct line q = { .osq = osq,
			  .entry = entry,
			  .cluster = node->cluster };
	u32 grant = READ_ONCE(node->grant);
	u32 merit = field(grant, MERIT_AT, MERIT_MAX);
	struct numa_node *other = NULL;
	bool ours = false;

	if (pass_inside(&q, node, code, grant, &other))
		return;
	if (!READ_ONCE(entry->joining) && (!knob(dynamic_enable) || !merit)) {
		if (merit)
			count_event(LK_EV_numa_closed_off);
		else
			count_event(LK_EV_numa_closed_poor);
		join(osq, entry, grant & PROVED);
		ours = true;
	}
	if (merit)
		merit--;
	grant = GRANT_HELD | merit << MERIT_AT | (grant & PROVED);
	ours |= release_top(osq, entry, q.cluster, other, grant);
	leave_cluster(&q, node, code);
	if (ours)
		done(osq, entry, 1);
}

/* -- the one queue ------------------------------------------------------- */

/* The holder divides the queue, by @clusters of CPUs; nobody is moved. */
static void divide(struct lk_numa_osq *osq, u32 clusters)
{
	u32 word = READ_ONCE(osq->word), tries = 8, i;
	struct numa_entry *entry = numa_claim(osq, word >> ENTRY_AT);
	struct numa_cluster *rest;

	if (!entry) {
		count_event(LK_EV_numa_no_entry);
		return;
	}
	WRITE_ONCE(entry->of, clusters);
	if (clusters > NUMA_CLUSTERS)
		clusters = NUMA_CLUSTERS;
	WRITE_ONCE(entry->clusters, clusters);
	WRITE_ONCE(entry->use, entry->use + 1);
	/* Those that queue now hold the top. */
	rest = numa_rest(entry);
	clean(&rest->top);
	WRITE_ONCE(entry->tail, (u16)top_code(entry, rest));
	do {
		if (!tries--) {
			count_event(LK_EV_numa_aborted);
			numa_put(entry);
			return;
		}
		WRITE_ONCE(rest->word, (u64)(word & TAIL));
		/* [numa_osq.J] RELEASE, pairs with numa_osq.K. */
	} while (!try_cmpxchg_release(
		&osq->word, &word,
		(word & 0x7fu << CAUTION_AT) | CLOSED | DIVIDED |
			(u32)(entry - numa_pool) << ENTRY_AT));
	count_event(LK_EV_numa_opened);
	/* From now on they are let in. */
	for (i = 0; i < clusters; i++)
		/* [numa_osq.T] RELEASE, pairs with numa_osq.L. */
		smp_store_release(&entry->cluster[i].word,
				  CLUSTER_USE(entry->use) | CLUSTER_OPEN);
}

/*
 * The holder has a look whether the queue is long, every 16th hand-over, and
 * when it has been for so long that it may be divided.
 */
static void consider(struct lk_numa_osq *osq, struct numa_node *node, u32 grant)
{
	u32 run = field(grant, RUN_AT, RUN_MAX - 1);
	u32 need = knob(osq_keep_times), word, serial, clusters;
	struct line q = { .osq = osq };

	if (run < need && (!run || run % 16))
		return;
	word = READ_ONCE(osq->word);
	need <<= caution_of(word);
	if (run < need && run % 16)
		return;
	clusters = cluster_count(); /* once: it may change */
	if ((word & TAIL) == CLOSED || !knob(dynamic_enable) || clusters < 2) {
		/* Not known to be long: looks as seldom as at first. */
		WRITE_ONCE(node->grant, GRANT_HELD);
		return;
	}
	serial = READ_ONCE(decode(&q, word & TAIL)->serial);
	if (!serial)
		return; /* it has just come */
	if ((int)(serial - node->serial) <= (int)knob(osq_lock_depth)) {
		WRITE_ONCE(node->grant, GRANT_HELD);
	} else if (run >= need) {
		WRITE_ONCE(node->grant, GRANT_HELD);
		divide(osq, clusters);
	}
}

static bool lock_one(struct lk_numa_osq *osq, struct numa_node *node, u32 code,
		     u32 old)
{
	struct line q = { .osq = osq };
	u32 grant = 0;

	node->entry = NULL;
	if (old) {
		link(&q, node, old);
		grant = wait_grant(&q, node, code);
		if (!grant) {
			if (is_divided(READ_ONCE(osq->word)))
				count_event(LK_EV_numa_cancel_rest);
			else if (READ_ONCE(node->prev) == CLOSED)
				count_event(LK_EV_numa_cancel_gate);
			else
				count_event(LK_EV_osq_cancel);
			return false;
		}
	}
	/* Granted before it had its number: those behind take theirs from it. */
	if (!node->serial)
		WRITE_ONCE(node->serial, 1);
	consider(osq, node, grant);
	return true;
}

static void unlock_one(struct lk_numa_osq *osq, struct numa_node *node,
		       u32 code)
{
	struct line q = { .osq = osq };
	struct numa_node *next = NULL;
	u32 run;

	/* Here the tail is looked at first: its line is the mutex's, and ours. */
	if (!move_tail(&q, code, 0))
		next = wait_next(&q, node, code, 0);
	if (next) {
		/* Nothing was granted to who found the queue empty: 0. */
		run = field(READ_ONCE(node->grant), RUN_AT, RUN_MAX - 1);
		if (run < RUN_MAX - 1)
			run++;
		tell(next, GRANT_HELD | run << RUN_AT);
	} else if (q.rest) {
		if (release_top(osq, q.rest, numa_rest(q.rest), NULL,
				GRANT_HELD | first_merit()))
			done(osq, q.rest, 1);
	}
}

/* -- the lock ------------------------------------------------------------ */

/*
 * Whether a signal handler comes to a lock whose queues its own thread is in. The
 * step that it interrupted may be one that a cluster's first waiter, or the top's
 * holder, cannot do without: so it may not become either.
 */
static bool is_nested(const struct lk_numa_osq *osq, u32 slot, u32 level)
{
	while (level--) {
		if (wait_node(numa_nodes, slot, level)->osq == osq)
			return true;
	}
	return false;
}

/* With the node that this thread has at @level. */
static bool lock_with(struct lk_numa_osq *osq, u32 slot, u32 level)
{
	struct numa_node *node = wait_node(numa_nodes, slot, level);
	u32 code = code_of(slot, level), word;
	enum arrival arrival;

	clean(node);
	WRITE_ONCE(node->vcpu, this_vcpu());
	node->osq = osq;
	for (;;) {
		/* [numa_osq.K] ACQUIRE, pairs with numa_osq.J: the entry, and
		 * how many queues it has. */
		word = smp_load_acquire(&osq->word);
		if (likely(!is_divided(word))) {
			/* The first one counts from 1. */
			WRITE_ONCE(node->serial, !(word & TAIL));
			/* [numa_osq.B] full RMW, pairs with numa_osq.A, .S
			 * and itself: our node is clean before it can be found,
			 * and the last holder's writes are seen.
			 * Spare acq_rel: the kernel has no RMW between release
			 * and full. */
			if (try_cmpxchg(&osq->word, &word,
					(word & ~TAIL) | code))
				return lock_one(osq, node, code, word & TAIL);
			continue;
		}
		if (is_nested(osq, slot, level))
			return false;
		arrival = lock_in_cluster(osq, entry_of(word), node, code);
		if (arrival != TURNED_AWAY)
			return arrival == TAKEN;
		count_event(LK_EV_numa_turned_away);
		if (need_resched())
			return false;
		cpu_relax();
	}
}

bool lk_numa_osq_lock(struct lk_numa_osq *osq)
{
	u32 slot, level;

	queue_enter(); /* until the node is no longer ours */
	slot = this_slot();
	level = wait_depth(numa_nodes);
	if (likely(slot && level < LEVELS)) {
		wait_depth(numa_nodes)++;
		barrier(); /* a signal handler's lock is one level up now */
		if (lock_with(osq, slot, level))
			return true;
		barrier();
		wait_depth(numa_nodes)--;
	}
	queue_exit();
	return false;
}

void lk_numa_osq_unlock(struct lk_numa_osq *osq)
{
	u32 slot = this_slot(), level = wait_depth(numa_nodes) - 1;
	struct numa_node *node = wait_node(numa_nodes, slot, level);

	if (node->entry)
		unlock_in_cluster(osq, node, code_of(slot, level));
	else
		unlock_one(osq, node, code_of(slot, level));
	barrier();
	wait_depth(numa_nodes)--;
	queue_exit();
}

static void init(void *lock)
{
	*(struct lk_numa_osq *)lock = (struct lk_numa_osq)LK_NUMA_OSQ_INIT;
}

static bool attempt(void *lock)
{
	begin_waiting();
	return lk_numa_osq_lock(lock);
}

static void lock(void *lock)
{
	u32 rounds = 0;

	while (!attempt(lock))
		cpu_relax_wait(&rounds);
}

static void unlock(void *lock)
{
	lk_numa_osq_unlock(lock);
}

static u64 last_waiter(const void *lock)
{
	return READ_ONCE(((const struct lk_numa_osq *)lock)->tail);
}

const struct lk_ops lk_numa_osq_ops = {
	.name = "numa_osq",
	.summary =
		"optimistic spin queue, divided by clusters of CPUs while long",
	.size = sizeof(struct lk_numa_osq),
	.align = _Alignof(struct lk_numa_osq),
	.flags = LK_CANCEL | LK_KEEPS_NODE,
	.init = init,
	.lock = lock,
	.attempt = attempt,
	.unlock = unlock,
	.last_waiter = last_waiter,
};
