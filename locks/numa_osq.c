// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * numa_osq.h has states, invariants and sources; cancel_queue.h how a node
 * queues and leaves; numa_queue.h which queues there are. Here: to lock and
 * unlock in them. numa_divide.c divides and joins them, when numa_merit.h says
 * so.
 */
#include "catalogue.h"
#include "events.h"
#include "knobs.h"
#include "numa_divide.h"
#include "numa_merit.h"

DEFINE_WAIT_NODES(struct numa_node, numa_nodes);

/* Nodes of a slot that 16 bits can name: 65,534 slots would have one each. */
#define LEVELS                                                        \
	(65534 / LKP_MAX_SLOTS < LKP_MAX_NEST ? 65534 / LKP_MAX_SLOTS \
					      : LKP_MAX_NEST)

_Static_assert(LEVELS > 0 && LKP_MAX_SLOTS * LEVELS < NUMA_CLOSED,
	       "each slot has a code, and no code is the gate's");

static inline u32 code_of(u32 slot, u32 level)
{
	return (slot - 1) * LEVELS + level + 1;
}

/* Of any queue but the top. */
static inline struct numa_node *node_of(u32 code)
{
	if ((code & NUMA_TAIL) == NUMA_CLOSED)
		return &lk_numa_pool[code >> 16].gate;
	return wait_node(numa_nodes, (code - 1) / LEVELS + 1,
			 (code - 1) % LEVELS);
}

/*
 * The serial that @node has, now that its predecessor's is known. False: it is
 * not.
 */
static bool get_serial(struct numa_node *node, const struct numa_node *prev)
{
	u64 serial = READ_ONCE(prev->serial);

	if (serial)
		WRITE_ONCE(node->serial,
			   numa_next_serial(serial, this_cluster()));
	return serial;
}

/*
 * A waiter that stays in the queue looks again when its place is no longer @seen; or
 * soon, if that is 0.
 */
static inline void stay(struct cq_node *node, u32 seen, u32 *rounds)
{
	/* Orders nothing: it is loaded again, by cancel_queue.B. */
	if (seen)
		smp_cond_load_relaxed(&node->place, VAL != seen);
	else
		cpu_relax_wait(rounds);
}

/*
 * @node waits in the single queue, the rest, or a cluster's queue, until its
 * place is GRANTED: what was granted. Or it gives up, if it may, BEHIND ->
 * LEAVING -> gone: 0.
 *
 * It looks at its own node only, but when its predecessor is another one: only
 * that node's thread, and the one behind it, write to its line.
 */
static u32 wait_turn(struct cancel_queue *queue, struct numa_node *node,
		     u32 code)
{
	struct numa_node *prev = NULL;
	u32 place, seen = 0, vcpu = 0, rounds = 0;

	for (;;) {
		place = cq_place(&node->cq);
		if (cq_is_granted(place))
			return place;
		if (unlikely(place != seen)) {
			prev = node_of(place & CQ_BELOW);
			vcpu = READ_ONCE(prev->cq.vcpu);
			seen = place;
			if (!queue->entry && !node->serial &&
			    !get_serial(node, prev))
				seen = 0; /* it has just come */
		}
		if (queue->stays) {
			stay(&node->cq, seen, &rounds);
			continue;
		}
		if ((need_resched() || vcpu_is_preempted(vcpu)) &&
		    cq_leave(queue, &node->cq, code, &prev->cq, place))
			return 0;
		cpu_relax();
	}
}

/* -- the top queue ------------------------------------------------------- */

/*
 * @by has the top, and is done: the cluster behind it has the top, and its head
 * is the owner. If there is none, the queues are joined: then lk_numa_joined(1) is
 * to be called afterwards, true.
 *
 * (tail) of the top queue: t -> t, or, once joining has begun, @by -> 0. Not
 * before: a cluster that finds the top queue empty owns the lock, so the rest's last
 * thread, or @by's, would have no claim on the entry any more.
 */
static bool release_top(struct lk_numa_osq *osq, struct numa_entry *entry,
			struct numa_cluster *by, struct numa_share share)
{
	struct cancel_queue top = { .osq = osq, .entry = entry };
	u32 code = numa_top_code(entry, by);
	u32 grant = numa_grant(NUMA_OWNER, numa_pack(share));

	if (READ_ONCE(entry->joining)) {
		numa_retire(&top, &by->top, code, grant);
		return false;
	}
	if (numa_pass(&top, &by->top, code, grant))
		return false;
	count_event(LK_EV_numa_closed_idle);
	lk_numa_join(osq, entry, share.proved);
	/* A cluster that came just before may be behind us now. */
	numa_retire(&top, &by->top, code, grant);
	return true;
}

/*
 * The head of a cluster's queue retires, without the lock. (open, tail) of the
 * cluster: (o, n) -> (o, n), the node behind is HEAD; or (o, @code) -> (o, 0).
 */
static void leave_cluster(struct cancel_queue *queue, struct numa_node *node,
			  u32 code)
{
	if (!numa_retire(queue, &node->cq, code, numa_grant(NUMA_HEAD, 0)) &&
	    numa_was_sealed(queue))
		lk_numa_joined(queue->osq, queue->entry, 1);
}

/*
 * The head of a cluster's queue gives up, while its cluster is in the top
 * queue, in @place. True: it has left.
 *
 *   somebody is behind it in the cluster: that one is AT_TOP, the head instead
 *   nobody is: the cluster leaves the top queue, then the head leaves its own.
 *              A node that arrives in between is HEAD
 */
static bool leave_top(struct cancel_queue *queue, struct numa_node *node,
		      u32 code, u32 place)
{
	struct cancel_queue top = { .osq = queue->osq, .entry = queue->entry };
	struct cq_node *at = &queue->cluster->top;
	struct cq_node *next = READ_ONCE(node->cq.next);

	if (next && cq_move_up(next, code, NULL, numa_grant(NUMA_AT_TOP, 0))) {
		count_event(LK_EV_numa_cancel_top);
		return true;
	}
	if (!cq_begin_leaving(at, place))
		return false;
	count_event(LK_EV_numa_cancel_top);
	cq_retire(&top, at, numa_top_code(queue->entry, queue->cluster),
		  &queue->entry->cluster[(place & CQ_BELOW) - 1].top, place);
	leave_cluster(queue, node, code);
	return true;
}

/*
 * As the head of a cluster's queue, whose place is @grant. HEAD: the cluster
 * goes to the top queue. (tail) of that: 0 -> cluster, and we are the owner; or
 * another -> cluster, and we wait there, for what the owner grants to the
 * cluster's node. False: gave up, and left both.
 */
static bool lock_top(struct cancel_queue *queue, struct numa_node *node,
		     u32 code, u32 grant)
{
	struct numa_entry *entry = queue->entry;
	struct cq_node *at = &queue->cluster->top;
	u32 place = 0, mine = numa_top_code(entry, queue->cluster), old;
	struct numa_share share;

	if ((grant & NUMA_GRANT_KIND) == NUMA_HEAD) {
		cq_init(at);
		old = xchg(&entry->tail, (u16)mine); /* [numa_osq.B] */
		if (!old)
			place = numa_grant(NUMA_OWNER,
					   numa_pack(numa_first_share(
						   knob(osq_keep_times))));
		else
			cq_append(at, &entry->cluster[old - 1].top, old);
	}
	while (!cq_is_granted(place)) {
		place = cq_place(at);
		if (cq_is_granted(place)) {
			count_event(LK_EV_numa_remote);
			break;
		}
		if (queue->stays) {
			stay(at, place, NULL);
			continue;
		}
		if (need_resched() && leave_top(queue, node, code, place))
			return false;
		cpu_relax();
	}
	share = numa_unpack(numa_counts(place));
	share.few = READ_ONCE(queue->cluster->few);
	WRITE_ONCE(node->cq.place, numa_grant(NUMA_OWNER, numa_pack(share)));
	return true;
}

/* -- a cluster's queue --------------------------------------------------- */

enum arrival { LEFT, TAKEN, TURNED_AWAY };

/*
 * (open, tail) of the cluster's word: (1, 0) -> (1, @code): the head, which
 * goes to the top. (1, n) -> (1, @code): waits behind n. (0, n): turned away.
 */
static enum arrival lock_in_cluster(struct lk_numa_osq *osq,
				    struct numa_entry *entry,
				    struct numa_node *node, u32 code)
{
	struct numa_cluster *cluster = numa_here(entry);
	struct cancel_queue queue = { .osq = osq,
				      .entry = entry,
				      .cluster = cluster,
				      .stays = node->stays };
	u32 grant = numa_grant(NUMA_HEAD, 0), old;
	u64 word;

	do {
		/* [numa_osq.L] ACQUIRE, pairs with numa_divide.R and
		 * numa_divide.T: the owner of this use of the entry. */
		word = smp_load_acquire(&cluster->word);
		if (!(word & CLUSTER_OPEN) || READ_ONCE(entry->owner) != osq)
			return TURNED_AWAY;
		/* [numa_osq.U] full RMW, pairs with numa_queue.B and itself:
		 * our node is clean before it can be found, and the one before
		 * us was before we link to it. Spare acq_rel: the kernel has no
		 * RMW between release and full. Spare release: in the model a
		 * store comes after one of its word that ran before it. */
	} while (!try_cmpxchg(&cluster->word, &word,
			      (word & ~(u64)NUMA_TAIL) | code));
	node->entry = entry;
	node->cluster = cluster;

	old = word & NUMA_TAIL;
	if (old) {
		numa_append(&queue, &node->cq, &node_of(old)->cq, old);
		grant = wait_turn(&queue, node, code);
		if (!grant) {
			count_event(LK_EV_numa_cancel_cluster);
			return LEFT;
		}
		if ((grant & NUMA_GRANT_KIND) == NUMA_OWNER) {
			count_event(LK_EV_numa_local);
			return TAKEN;
		}
	}
	return lock_top(&queue, node, code, grant) ? TAKEN : LEFT;
}

/* No other cluster is in the top queue, as far as is known. */
static bool is_alone(const struct cancel_queue *queue)
{
	return !READ_ONCE(queue->cluster->top.next) &&
	       READ_ONCE(queue->entry->tail) ==
		       numa_top_code(queue->entry, queue->cluster);
}

/*
 * The owner passes the lock on inside its cluster: true. False: nobody else is
 * there, or it is another cluster's turn, or the clusters should be one queue.
 */
static bool pass_inside(struct cancel_queue *queue, struct numa_node *node,
			u32 code, struct numa_share share)
{
	if (!READ_ONCE(queue->entry->joining) &&
	    (!knob(dynamic_enable) || !share.merit))
		return false;
	if (share.passes >= knob(osq_node_max)) {
		if (!is_alone(queue))
			return false;
		/* At 0 we find nobody behind us at the top, and join. */
		share = numa_alone_share(share);
		if (!share.merit)
			return false;
	}
	share = numa_local_share(share, knob(osq_keep_times));
	/* The tail stays: a thread that empties the queue must not have the top. */
	return numa_pass(queue, &node->cq, code,
			 numa_grant(NUMA_OWNER, numa_pack(share)));
}

/*
 * The owner passes the lock on in its cluster. Or it retires twice: from the
 * top, then from its cluster's queue, whose next head takes the cluster to the
 * top again.
 */
static void unlock_in_cluster(struct lk_numa_osq *osq, struct numa_node *node,
			      u32 code)
{
	struct numa_entry *entry = node->entry;
	struct cancel_queue queue = { .osq = osq,
				      .entry = entry,
				      .cluster = node->cluster,
				      .stays = node->stays };
	struct numa_share share =
		numa_unpack(numa_counts(READ_ONCE(node->cq.place)));
	bool joins = false, few;

	if (pass_inside(&queue, node, code, share))
		return;
	if (!READ_ONCE(entry->joining) &&
	    (!knob(dynamic_enable) || !share.merit)) {
		if (share.merit)
			count_event(LK_EV_numa_closed_off);
		else
			count_event(LK_EV_numa_closed_poor);
		lk_numa_join(osq, entry, share.proved);
		joins = true;
	}
	few = share.passes < knob(osq_node_max);
	if (few != share.few) /* seldom: its line may be another cluster's */
		WRITE_ONCE(queue.cluster->few, few);
	joins |= release_top(osq, entry, queue.cluster,
			     numa_remote_share(share));
	leave_cluster(&queue, node, code);
	if (joins)
		lk_numa_joined(osq, entry, 1);
}

/* -- the single queue ---------------------------------------------------- */

/*
 * The owner of a single queue, after @run hand-overs. When it is due, it looks
 * whether the queue is long, and divides it if it has been so often enough. Its
 * own place says what the hand-overs are from now on.
 */
static void consider(struct lk_numa_osq *osq, struct numa_node *node, u32 run)
{
	u32 needed = knob(osq_keep_times), word, clusters;
	bool is_long = false;
	u64 last;

	if (!numa_is_due(run, needed))
		return;
	word = READ_ONCE(osq->word);
	needed = numa_needed(needed, numa_caution(word));
	if (!numa_is_due(run, needed))
		return;
	clusters = cluster_count(); /* once: it may change */
	if ((word & NUMA_TAIL) != NUMA_CLOSED && knob(dynamic_enable) &&
	    clusters >= 2) {
		last = READ_ONCE(node_of(word & NUMA_TAIL)->serial);
		if (!last)
			return; /* it has just come */
		is_long = numa_is_long(last, node->serial, knob(osq_lock_depth),
				       knob(osq_node_max));
	}
	if (is_long && run < needed)
		return;
	/* Counted anew: it is divided now, or not known to be long. */
	WRITE_ONCE(node->cq.place, numa_grant(NUMA_OWNER, 0));
	if (is_long)
		lk_numa_divide(osq, clusters, node->stays);
}

/* Which queue it was in. */
static void count_cancel(const struct lk_numa_osq *osq,
			 const struct numa_node *node)
{
	if (numa_is_divided(READ_ONCE(osq->word)))
		count_event(LK_EV_numa_cancel_rest);
	else if ((READ_ONCE(node->cq.place) & NUMA_TAIL) == NUMA_CLOSED)
		count_event(LK_EV_numa_cancel_gate);
	else
		count_event(LK_EV_osq_cancel);
}

/* The tail, of @word, was exchanged for @code. */
static bool lock_single(struct lk_numa_osq *osq, struct numa_node *node,
			u32 code, u32 word)
{
	struct cancel_queue single = { .osq = osq, .stays = node->stays };
	u32 grant = 0, old = word & NUMA_TAIL;

	node->entry = NULL;
	if (old) {
		if (old == NUMA_CLOSED)
			old = numa_gate_code(numa_entry_of(word));
		numa_append(&single, &node->cq, &node_of(old)->cq, old);
		grant = wait_turn(&single, node, code);
		if (!grant) {
			count_cancel(osq, node);
			return false;
		}
	}
	/* Granted before it had its number: those behind take theirs from it. */
	if (!node->serial)
		WRITE_ONCE(node->serial, numa_first_serial(this_cluster()));
	consider(osq, node, numa_counts(grant));
	return true;
}

/*
 * The owner retires. (tail) of the lock, or of the rest: n -> n, and the
 * node behind us is the owner; or @code -> 0. The last of the rest has the top, and
 * gives it up.
 */
static void retire_single(struct lk_numa_osq *osq, struct numa_node *node,
			  u32 code)
{
	struct cancel_queue single = { .osq = osq, .stays = node->stays };
	/* Nothing was granted to a node that found the queue empty: 0. */
	u32 run = numa_counts(READ_ONCE(node->cq.place));

	if (numa_retire(&single, &node->cq, code,
			numa_grant(NUMA_OWNER, numa_next_run(run))) ||
	    !single.rest)
		return;
	if (release_top(osq, single.rest, numa_rest(single.rest),
			numa_first_share(knob(osq_keep_times))))
		lk_numa_joined(osq, single.rest, 1);
}

/* (tail) @code -> 0: nobody waits. Else it takes more. */
static void unlock_single(struct lk_numa_osq *osq, struct numa_node *node,
			  u32 code)
{
	/* The tail is looked at first: its line is the mutex's, and ours. */
	if (READ_ONCE(osq->tail) != code ||
	    !numa_move_tail(&osq->tail, code, 0))
		retire_single(osq, node, code);
}

/* -- the lock ------------------------------------------------------------ */

/*
 * Whether a signal handler comes to a lock whose queues its own thread is in.
 * The step that it interrupted may be one for which the head of another cluster
 * waits: so the handler may not become that head.
 */
static bool is_nested(const struct lk_numa_osq *osq, u32 slot, u32 level)
{
	while (level--) {
		if (wait_node(numa_nodes, slot, level)->osq == osq)
			return true;
	}
	return false;
}

/*
 * With the node that this thread has at @level. The lock's word, as (tail,
 * DIVIDED):
 *
 *   (0, 0) -> (@code, 0)     free: we are the owner
 *   (n, 0) -> (@code, 0)     waits behind n; if that is CLOSED, behind the gate
 *   (CLOSED, 1)              stays; we go to the queue of our cluster
 */
static bool lock_with(struct lk_numa_osq *osq, u32 slot, u32 level, bool stays)
{
	struct numa_node *node = wait_node(numa_nodes, slot, level);
	u32 code = code_of(slot, level), word, rounds = 0;
	enum arrival arrival;

	cq_init(&node->cq);
	WRITE_ONCE(node->cq.vcpu, this_vcpu());
	node->osq = osq;
	node->stays = stays;
	node->kept = NULL;
	for (;;) {
		/* [numa_osq.K] ACQUIRE, pairs with numa_divide.J: the entry,
		 * and how many queues it has. */
		word = smp_load_acquire(&osq->word);
		if (likely(!numa_is_divided(word))) {
			/* The first one counts from 1. */
			WRITE_ONCE(node->serial,
				   word & NUMA_TAIL
					   ? 0
					   : numa_first_serial(this_cluster()));
			/* [numa_osq.B] full RMW, pairs with numa_queue.A,
			 * numa_divide.S and itself: our node is clean before it
			 * can be found, and the last owner's writes are seen.
			 * Spare acq_rel: the kernel has no RMW between release
			 * and full. */
			if (try_cmpxchg(&osq->word, &word,
					(word & ~NUMA_TAIL) | code))
				return lock_single(osq, node, code, word);
			continue;
		}
		if (is_nested(osq, slot, level))
			return false;
		arrival = lock_in_cluster(osq, numa_entry_of(word), node, code);
		if (arrival != TURNED_AWAY)
			return arrival == TAKEN;
		count_event(LK_EV_numa_turned_away);
		if (stays) { /* the one that divides may have lost its CPU to us */
			cpu_relax_wait(&rounds);
			continue;
		}
		/* The one that divides may have lost its CPU to anybody. */
		if (need_resched() || rounds++ >= osq_arrival_looks())
			return false;
		cpu_relax();
	}
}

static inline bool lock_in_mode(struct lk_numa_osq *osq, bool stays)
{
	u32 slot, level;

	queue_enter(); /* until the node is no longer ours */
	slot = this_slot();
	level = wait_depth(numa_nodes);
	if (likely(slot && level < LEVELS)) {
		wait_depth(numa_nodes)++;
		barrier(); /* a signal handler's lock is one level up now */
		if (lock_with(osq, slot, level, stays))
			return true;
		barrier();
		wait_depth(numa_nodes)--;
	}
	queue_exit();
	return false;
}

bool lk_numa_osq_lock(struct lk_numa_osq *osq)
{
	return lock_in_mode(osq, false);
}

bool lk_numa_osq_lock_to_stay(struct lk_numa_osq *osq)
{
	return lock_in_mode(osq, true);
}

/*
 * It pays where few threads share a cluster. An owner that hands the queue over
 * at once is no longer in it, so its cluster runs out of waiters sooner.
 *
 * The thread that keeps a queue may have other nodes above this one, of locks
 * that it does not keep: so they are gone when it unlocks, and its node is the
 * last one again.
 */
bool lk_numa_osq_keep(struct lk_numa_osq *osq)
{
	struct numa_node *node = wait_node(numa_nodes, this_slot(), 0);

	if (wait_depth(numa_nodes) != 1 || !node->entry ||
	    !numa_unpack(numa_counts(READ_ONCE(node->cq.place))).few)
		return false;
	node->kept = osq;
	return true;
}

void lk_numa_osq_unlock(struct lk_numa_osq *osq)
{
	u32 slot = this_slot(), level = wait_depth(numa_nodes) - 1;
	struct numa_node *node = wait_node(numa_nodes, slot, level);

	if (node->entry)
		unlock_in_cluster(osq, node, code_of(slot, level));
	else
		unlock_single(osq, node, code_of(slot, level));
	barrier();
	wait_depth(numa_nodes)--;
	queue_exit();
}

bool lk_numa_osq_unlock_if_kept(struct lk_numa_osq *osq)
{
	struct numa_node *node = wait_node(numa_nodes, this_slot(), 0);

	if (node->kept != osq)
		return false;
	/* First: once it is handed over, a signal handler may have the lock. */
	node->kept = NULL;
	barrier();
	lk_numa_osq_unlock(osq);
	return true;
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
	.flags = LK_CANCEL | LK_KEEPS_NODE | LK_CLUSTERS,
	.init = init,
	.lock = lock,
	.attempt = attempt,
	.unlock = unlock,
	.last_waiter = last_waiter,
};
