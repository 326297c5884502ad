// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* numa_osq_2024.h says what this is, and what is wrong with it. */
#include "events.h"
#include "knobs.h"
#include "numa_osq_2024.h"

enum { INITED, DETECT, STOPPING, NUMA };

#define FROZEN	 0xffffu
#define NODE_MAX 255u

/* Deep is more than this, and more than the knob, whose default is lower now. */
#define DEPTH 8

#define ENTRIES	 16u
#define CLUSTERS 64u

struct node {
	struct node *next;
	u32 prev; /* the code of the node before it */
	/*
	 * 0: waits. Else it is its turn; in the one queue, 1 and the deep
	 * hand-overs so far; in a cluster's, the hand-overs inside, or TOP.
	 */
	u32 locked;
	u32 cpu;
	u32 serial;
} __cacheline_aligned;

/* Its cluster's turn is over: it is to queue for the next one. */
#define TOP (~0u)

/* A cluster: its own queue, and its place in the queue of clusters. */
struct cluster {
	u16 tail;
	u32 locked;
	struct cluster *next;
} __cacheline_aligned;

struct entry {
	u16 tail; /* the last cluster, from 1 */
	u32 used;
	struct cluster cluster[CLUSTERS];
};

/* One for each CPU, by its slot. */
static struct node nodes[LKP_MAX_SLOTS + 1];
static struct entry pool[ENTRIES];

static inline struct node *decode(u32 code)
{
	return &nodes[code];
}

/* -- a queue, be it the one or a cluster's, that waiters may leave --------- */

/* The node behind @node, once it is certain; NULL: @tail is @before now. */
static struct node *wait_next(u16 *tail, struct node *node, u32 code,
			      u32 before)
{
	struct node *next;
	u32 rounds = 0;
	u16 last;

	for (;;) {
		last = (u16)code;
		if (READ_ONCE(*tail) == code &&
		    try_cmpxchg_release(tail, &last, (u16)before))
			return NULL;
		if (READ_ONCE(node->next)) {
			next = xchg_acquire(&node->next, NULL);
			if (next)
				return next;
		}
		cpu_relax_wait(&rounds);
	}
}

/* True: too late, it is our turn. */
static bool unqueue(u16 *tail, struct node *node, u32 code)
{
	struct node *prev, *next, *self;
	u32 before = READ_ONCE(node->prev), rounds = 0;

	for (;;) {
		prev = decode(before);
		self = node;
		if (READ_ONCE(prev->next) == node &&
		    try_cmpxchg_relaxed(&prev->next, &self, NULL))
			break;
		if (smp_load_acquire(&node->locked))
			return true;
		cpu_relax_wait(&rounds);
		before = READ_ONCE(node->prev);
	}
	next = wait_next(tail, node, code, before);
	if (next) {
		WRITE_ONCE(next->prev, before);
		smp_store_release(&prev->next, next);
	}
	return false;
}

/* Behind @old. False: gave up. */
static bool wait_turn(u16 *tail, struct node *node, u32 code, u32 old)
{
	struct node *prev = decode(old);

	WRITE_ONCE(node->prev, old);
	WRITE_ONCE(node->serial, READ_ONCE(prev->serial) + 1);
	smp_wmb();
	WRITE_ONCE(prev->next, node);
	while (!smp_load_acquire(&node->locked)) {
		prev = decode(READ_ONCE(node->prev));
		if (need_resched() || vcpu_is_preempted(READ_ONCE(prev->cpu)))
			return unqueue(tail, node, code);
		cpu_relax();
	}
	return true;
}

/* -- NUMA ---------------------------------------------------------------- */

static void lock_top(struct entry *entry, struct cluster *cluster)
{
	struct cluster *prev;
	u32 old;

	WRITE_ONCE(cluster->next, NULL);
	WRITE_ONCE(cluster->locked, 0);
	old = xchg(&entry->tail, (u16)(cluster - entry->cluster + 1));
	if (!old)
		return;
	prev = &entry->cluster[old - 1];
	WRITE_ONCE(prev->next, cluster);
	smp_cond_load_acquire(&cluster->locked, VAL);
}

static void unlock_top(struct entry *entry, struct cluster *cluster)
{
	u16 code = (u16)(cluster - entry->cluster + 1);
	struct cluster *next = READ_ONCE(cluster->next);

	if (!next) {
		if (try_cmpxchg_release(&entry->tail, &code, 0))
			return;
		next = smp_cond_load_acquire(&cluster->next, VAL);
	}
	count_event(LK_EV_numa_remote);
	smp_store_release(&next->locked, 1);
}

static inline struct entry *entry_of(const struct lk_numa_2024 *osq)
{
	return &pool[READ_ONCE(osq->entry) % ENTRIES];
}

static inline struct cluster *here(struct entry *entry)
{
	return &entry->cluster[this_cluster() % CLUSTERS];
}

static bool lock_numa(struct lk_numa_2024 *osq, struct node *node, u32 code)
{
	struct entry *entry = entry_of(osq);
	struct cluster *cluster = here(entry);
	u32 old = xchg(&cluster->tail, (u16)code);

	if (old) {
		if (!wait_turn(&cluster->tail, node, code, old)) {
			count_event(LK_EV_numa_cancel_cluster);
			return false;
		}
		if (READ_ONCE(node->locked) != TOP)
			return true;
	}
	lock_top(entry, cluster);
	WRITE_ONCE(node->locked, 1);
	return true;
}

static void unlock_numa(struct lk_numa_2024 *osq, struct node *node, u32 code)
{
	struct entry *entry = entry_of(osq);
	struct cluster *cluster = here(entry);
	u32 passes = READ_ONCE(node->locked);
	struct node *next;

	if (passes <= NODE_MAX) {
		/* The tail stays: nobody is to use the cluster's place yet. */
		next = wait_next(&cluster->tail, node, code, code);
		if (next) {
			count_event(LK_EV_numa_local);
			smp_store_release(&next->locked, passes + 1);
			return;
		}
	}
	unlock_top(entry, cluster);
	next = wait_next(&cluster->tail, node, code, 0);
	if (next)
		smp_store_release(&next->locked, TOP);
}

/* -- the one queue ------------------------------------------------------- */

/* Nobody queues any more: lets those in that spin in STOPPING. */
static void open_numa(struct lk_numa_2024 *osq)
{
	count_event(LK_EV_numa_opened);
	smp_store_release(&osq->state, NUMA);
}

static void stop(struct lk_numa_2024 *osq)
{
	u32 i;

	for (i = 0; i < ENTRIES; i++) {
		if (READ_ONCE(pool[i].used) || xchg(&pool[i].used, 1))
			continue;
		WRITE_ONCE(osq->entry, (u8)i);
		smp_store_release(&osq->state, STOPPING);
		return;
	}
	count_event(LK_EV_numa_no_entry);
}

/* The holder hands over: how many times in a row the queue has been deep. */
static u32 consider(struct lk_numa_2024 *osq, struct node *node, u32 deep)
{
	u32 word = READ_ONCE(osq->word), state = word >> 24;
	u32 serial;
	int depth;

	if (!knob(dynamic_enable) || state >= STOPPING)
		return 0;
	serial = READ_ONCE(decode(word & FROZEN)->serial);
	depth = (int)(serial - READ_ONCE(node->serial));
	if (depth <= DEPTH || depth <= (int)knob(osq_lock_depth))
		return 0;
	if (state == INITED)
		WRITE_ONCE(osq->state, DETECT);
	else if (++deep > knob(osq_keep_times))
		stop(osq);
	return deep;
}

static void unlock_one(struct lk_numa_2024 *osq, struct node *node, u32 code)
{
	u32 deep = consider(osq, node, READ_ONCE(node->locked) - 1);
	u16 tail = (u16)code;
	struct node *next;

	if (READ_ONCE(osq->state) == STOPPING && READ_ONCE(osq->tail) == code &&
	    try_cmpxchg_release(&osq->tail, &tail, FROZEN)) {
		open_numa(osq);
		return;
	}
	/* The lost start: if this finds that all have left, nobody opens. */
	next = wait_next(&osq->tail, node, code, 0);
	if (next)
		smp_store_release(&next->locked, deep + 1);
}

static bool lock_with(struct lk_numa_2024 *osq, struct node *node, u32 code)
{
	u32 word;
	u16 old;

	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->locked, 0);
	WRITE_ONCE(node->cpu, this_vcpu());
	do {
		word = READ_ONCE(osq->word);
		if (word >> 24 == STOPPING)
			smp_cond_load_acquire(&osq->state, VAL == NUMA);
		if (word >> 24 >= STOPPING)
			return lock_numa(osq, node, code);
		old = (u16)word;
	} while (!try_cmpxchg(&osq->tail, &old, (u16)code));
	if (!old) {
		WRITE_ONCE(node->serial, 0);
		WRITE_ONCE(node->locked, 1);
	} else if (!wait_turn(&osq->tail, node, code, old)) {
		count_event(LK_EV_osq_cancel);
		return false;
	}
	return true;
}

bool lk_numa_2024_is_locked(const struct lk_numa_2024 *osq)
{
	u16 tail = READ_ONCE(osq->tail);

	return tail == FROZEN ? READ_ONCE(entry_of(osq)->tail) : tail;
}

bool lk_numa_2024_lock(struct lk_numa_2024 *osq)
{
	u32 slot;

	queue_enter(); /* until the node is no longer ours */
	slot = this_slot();
	if (lock_with(osq, decode(slot), slot))
		return true;
	queue_exit();
	return false;
}

void lk_numa_2024_unlock(struct lk_numa_2024 *osq)
{
	u32 slot = this_slot();

	/* Nobody of the one queue is left when it gets NUMA. */
	if (READ_ONCE(osq->state) == NUMA)
		unlock_numa(osq, decode(slot), slot);
	else
		unlock_one(osq, decode(slot), slot);
	queue_exit();
}
