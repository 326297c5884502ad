// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The slow path of qspinlock.h: states, modes and sources stand there. */
#include "catalogue.h"
#include "qspinlock.h"

struct qnode {
	struct qnode *next;
	u32 head; /* set by the predecessor: you wait on the word now */
};

DEFINE_WAIT_NODES(struct qnode, qnodes);

static inline u32 encode_tail(u32 slot, u32 level)
{
	return (slot << 2 | level) << LK_Q_TAIL_SHIFT;
}

static inline struct qnode *decode_tail(u32 tail)
{
	u32 code = tail >> LK_Q_TAIL_SHIFT;

	return wait_node(qnodes, code >> 2, code & 3);
}

/* One CAS on the locked half: also while a queue waits. */
static inline bool take_half(struct lk_qspin *lock)
{
	u16 tag = wait_tag();

	/* [qspinlock.C] ACQUIRE, pairs with qspinlock.B. */
	return READ_ONCE(lock->locked_pending) == tag &&
	       try_cmpxchg_acquire(&lock->locked_pending, &tag,
				   (u16)(tag | LK_Q_LOCKED));
}

/* The owner of the pending bit becomes the holder; nobody else may write. */
static inline void pending_to_locked(struct lk_qspin *lock)
{
	WRITE_ONCE(lock->locked_pending, (u16)(wait_tag() | LK_Q_LOCKED));
}

static void wait_tas(struct lk_qspin *lock)
{
	do {
		smp_cond_load_relaxed(&lock->locked_pending,
				      VAL == (u16)wait_tag());
	} while (!take_half(lock));
}

/*
 * A word from before a fork names waiters that are gone in this process: keep
 * who holds it, forget the queue, give it the tag of today.
 */
__cold u32 lk_qspin_adopt(struct lk_qspin *lock, u32 val)
{
	(void)wait_epoch(); /* brings the tag up to date */
	while ((val & WAIT_TAG_MASK) != wait_tag()) {
		u32 new = (val & LK_Q_LOCKED_MASK) | wait_tag();

		if (atomic_try_cmpxchg_relaxed(&lock->val, &val, new))
			return new;
	}
	return val;
}

/*
 * The pending bit: waits on the word without a node while nobody else waits.
 * False if somebody does; then the queue is the way.
 */
static bool lock_pending(struct lk_qspin *lock, u32 val)
{
	u32 rounds = 0;

	/* The pending owner is about to be the holder: let that happen first. */
	while ((val & ~WAIT_TAG_MASK) == LK_Q_PENDING &&
	       rounds < pending_rounds()) {
		cpu_relax_wait(&rounds);
		val = atomic_read(&lock->val);
	}
	if (val & ~(LK_Q_LOCKED_MASK | WAIT_TAG_MASK))
		return false;

	/* [qspinlock.D] ACQUIRE, pairs with qspinlock.B: it may be free by now. */
	val = atomic_fetch_or_acquire(LK_Q_PENDING, &lock->val);
	if (unlikely(val & ~(LK_Q_LOCKED_MASK | WAIT_TAG_MASK))) {
		if (!(val & LK_Q_PENDING)) /* ours: give it back */
			WRITE_ONCE(lock->pending, (u8)(wait_tag() >> 8));
		return false;
	}
	if (val & LK_Q_LOCKED_MASK) {
		/* [qspinlock.E] ACQUIRE, pairs with qspinlock.B. */
		smp_cond_load_acquire(&lock->locked, !VAL);
	}
	pending_to_locked(lock);
	return true;
}

/* The head stops the stealers: true if it owns the pending bit now. */
static inline bool stop_stealing(struct lk_qspin *lock)
{
	/* Orders nothing: the head still waits by qspinlock.F. */
	return !(atomic_fetch_or_relaxed(LK_Q_PENDING, &lock->val) &
		 LK_Q_PENDING);
}

/*
 * The head of the queue takes the lock; @tail is its own. Returns true if it
 * was the last one queued, and the queue is empty now.
 */
static bool head_take(struct lk_qspin *lock, u32 tail)
{
	u32 val, busy = LK_Q_LOCKED_PENDING, lost = 0;
	bool stopped = false;

	for (;;) {
		/* [qspinlock.F] ACQUIRE, pairs with qspinlock.B and .H: when
		 * stopped, the stores below need no more than this load; and
		 * a tail that is not ours tells of a clean node behind us. */
		val = atomic_cond_read_acquire(&lock->val, !(VAL & busy));
		if ((val & LK_Q_TAIL_MASK) == tail) {
			/* [qspinlock.G] ACQUIRE, pairs with qspinlock.B. */
			if (atomic_try_cmpxchg_acquire(
				    &lock->val, &val, wait_tag() | LK_Q_LOCKED))
				return true;
			/* Somebody queued behind us, or stole the lock. */
			if (!(val & busy))
				continue;
		} else if (stopped) {
			pending_to_locked(lock);
			return false;
		} else if (take_half(lock)) {
			return false;
		}
		if (!stopped && ++lost > steal_patience() &&
		    stop_stealing(lock)) {
			stopped = true;
			busy = LK_Q_LOCKED_MASK;
		}
	}
}

static void lock_queued(struct lk_qspin *lock, u32 slot, u32 level)
{
	struct qnode *node = wait_node(qnodes, slot, level), *next = NULL;
	u32 tail = encode_tail(slot, level), old;

	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->head, 0);
	/* [qspinlock.H] WMB, pairs with qspinlock.F and .I: the node is clean
	 * before it can be found. */
	smp_wmb();
	/* [qspinlock.I] address dependency, pairs with qspinlock.H. */
	old = (u32)xchg_relaxed_dep(&lock->tail, (u16)(tail >> LK_Q_TAIL_SHIFT))
	      << LK_Q_TAIL_SHIFT;
	if (old) {
		WRITE_ONCE(decode_tail(old)->next, node);
		/* Orders nothing: the lock is still to be acquired. */
		smp_cond_load_relaxed(&node->head, VAL);
	}
	if (head_take(lock, tail))
		return;
	/* Its node is clean: head_take() has seen its tail, by qspinlock.F. */
	next = smp_cond_load_relaxed(&node->next, VAL);
	WRITE_ONCE(next->head, 1);
}

__cold void lk_qspin_lock_slow(struct lk_qspin *lock, u32 val,
			       enum lk_qspin_mode mode)
{
	u32 slot = this_slot(), level;

	val = lk_qspin_adopt(lock, val);
	if (mode == LK_QSPIN_FAIR) {
		if (lock_pending(lock, val))
			return;
	} else if (take_half(lock)) {
		return;
	}
	/* No slot left, or nested too deep: wait without a node, unfairly. */
	if (mode == LK_QSPIN_TAS || unlikely(!slot) ||
	    unlikely(wait_depth(qnodes) >= LW_MAX_NEST)) {
		wait_tas(lock);
		return;
	}
	level = wait_depth(qnodes)++;
	barrier(); /* a signal handler's lock from here on is one level up */
	lock_queued(lock, slot, level);
	barrier();
	wait_depth(qnodes)--;
}

static void init(void *lock)
{
	lk_qspin_init(lock);
}

static void lock_fair(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_FAIR);
}

static void lock_steal(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_STEAL);
}

static void lock_tas(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_TAS);
}

static bool trylock(void *lock)
{
	return lk_qspin_trylock(lock);
}

static void unlock(void *lock)
{
	lk_qspin_unlock(lock);
}

/* Tail and pending bit: a joining waiter changes one of them. */
static u64 last_waiter(const void *lock)
{
	return atomic_read(&((const struct lk_qspin *)lock)->val) &
	       (LK_Q_TAIL_MASK | LK_Q_PENDING);
}

#define QSPIN_OPS(mode, text, promises, last)         \
	const struct lk_ops lk_qspin_##mode##_ops = { \
		.name = "qspinlock_" #mode,           \
		.summary = text,                      \
		.size = sizeof(struct lk_qspin),      \
		.align = _Alignof(struct lk_qspin),   \
		.flags = promises,                    \
		.init = init,                         \
		.lock = lock_##mode,                  \
		.trylock = trylock,                   \
		.unlock = unlock,                     \
		.last_waiter = last,                  \
	}

QSPIN_OPS(fair, "queued spinlock: pending bit, then a FIFO queue",
	  LK_FIFO | LK_FORKS, last_waiter);
QSPIN_OPS(steal, "queued spinlock: arrivals may steal, the queue is FIFO",
	  LK_FORKS, last_waiter);
QSPIN_OPS(tas, "queued spinlock without its queue: test-and-set", LK_FORKS,
	  NULL);
