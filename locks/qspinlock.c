// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* qspinlock.h has states, modes and sources. */
#include "catalogue.h"
#include "kick.h"
#include "qspinlock.h"

struct qnode {
	struct qnode *next;
	u32 state;
	u32 vcpu;  /* where its thread ran when it queued */
	u16 halts; /* its own code where it may fall asleep, else 0 */
};

/*
 * QUEUED --predecessor--> HEAD              waits on the word from here on
 * QUEUED --itself--> ASLEEP --predecessor--> HEAD_ASLEEP --kick--> HEAD
 *                                           HEAD --itself--> HEAD_ASLEEP
 */
enum { QUEUED, HEAD, ASLEEP, HEAD_ASLEEP };

DEFINE_WAIT_NODES(struct qnode, qnodes);

atomic_t lk_qspin_halting __cacheline_aligned;
/* The heads that may be asleep. */
static struct lk_kick_table halted;

static inline struct qnode *decode(u32 code)
{
	return wait_node(qnodes, code >> 2, code & 3);
}

/* Whether the locked half says that the lock may be taken past the queue. */
static inline bool half_is_free(u16 half)
{
	return (half & ~LK_Q_HALTED) == wait_tag();
}

/* Past the queue; fails only if the lock is held or pending is set. */
static inline bool take_half(struct lk_qspin *lock)
{
	u16 half = READ_ONCE(lock->locked_pending);

	while (half_is_free(half))
		if (lk_qspin_take_half(lock, &half))
			return true;
	return false;
}

/* The owner of the pending bit becomes the holder; nobody else may write. */
static inline void pending_to_locked(struct lk_qspin *lock)
{
	WRITE_ONCE(lock->locked_pending, (u16)(wait_tag() | LK_Q_LOCKED));
}

static void wait_tas(struct lk_qspin *lock)
{
	do {
		smp_cond_load_relaxed(&lock->locked_pending, half_is_free(VAL));
	} while (!take_half(lock));
}

/* The same for the head: nobody sleeps for whom an unlock should look now. */
static inline bool take_half_as_head(struct lk_qspin *lock)
{
	u16 half = READ_ONCE(lock->locked_pending);

	/* [qspinlock.C] */
	return half_is_free(half) &&
	       try_cmpxchg_acquire(&lock->locked_pending, &half,
				   (u16)(wait_tag() | LK_Q_LOCKED));
}

/* An arrival takes the lock past the queue, while the word has none of @never. */
static bool steal(struct lk_qspin *lock, u32 rounds, u32 never)
{
	u32 round;

	for (round = 0; !take_half(lock); round++) {
		if (round >= rounds || atomic_read(&lock->val) & never)
			return false;
		/* Not as often as a mutex: that costs the holder more than it brings. */
		brief_pause(round + 2);
	}
	return true;
}

/*
 * A word from before a fork names waiters that are gone in this process: keep
 * the holder, forget the queue, give it the tag of today.
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

/* Neither a pending waiter nor a queue. */
static inline bool nobody_waits(u32 val)
{
	return !(val & ~(LK_Q_LOCKED_MASK | WAIT_TAG_MASK));
}

/* (0,1,0): the pending waiter is about to take the lock and clear the pending bit. */
static u32 let_pending_take(struct lk_qspin *lock, u32 val)
{
	u32 rounds = 0;

	while ((val & ~WAIT_TAG_MASK) == LK_Q_PENDING &&
	       rounds < pending_rounds()) {
		cpu_relax_wait(&rounds);
		val = atomic_read(&lock->val);
	}
	return val;
}

/*
 * The pending waiter needs no node: the pending bit is its place, and it waits on
 * the word. False if another thread has that place, or a queue waits.
 */
static bool wait_as_pending(struct lk_qspin *lock, u32 val)
{
	u32 held;

	val = let_pending_take(lock, val);
	do {
		if (!nobody_waits(val))
			return false;
		held = val & LK_Q_LOCKED_MASK;
		/* [qspinlock.D] ACQUIRE, pairs with qspinlock.B: (0,0,1) ->
		 * (0,1,1), or (0,0,0) -> (0,0,1) if it is free by now. */
	} while (!atomic_try_cmpxchg_acquire(
		&lock->val, &val, val | (held ? LK_Q_PENDING : LK_Q_LOCKED)));
	if (held) {
		/* [qspinlock.E] ACQUIRE, pairs with qspinlock.B. */
		smp_cond_load_acquire(&lock->locked, !VAL);
		pending_to_locked(lock);
	}
	return true;
}

/* -- halting ------------------------------------------------------------- */

/* Makes @node, the sleeping head, be found; false: there is no way to. */
static bool ask_for_kick(struct lk_qspin *lock, u16 code, u32 busy)
{
	u32 val;

	if (!lk_kick_post(&halted, lock, code))
		return false;
	val = atomic_read(&lock->val);
	do {
		/* Another owner of pending is about to take the lock by a
		 * store, which would lose the flag. */
		if (val & busy & LK_Q_PENDING)
			return false;
		/* [qspinlock.L] RELEASE, pairs with qspinlock.M: a thread that
		 * sees the flag finds the entry. */
	} while (!atomic_try_cmpxchg_release(&lock->val, &val,
					     val | LK_Q_HALTED));
	return true;
}

/* Takes the entry for @lock away, and wakes whom it names but @self. */
static void kick(struct lk_qspin *lock, u16 self)
{
	u16 code = lk_kick_claim(&halted, lock);
	struct qnode *head;
	u32 state = HEAD_ASLEEP;

	if (!code || code == self)
		return;
	head = wait_node(qnodes, code >> 2, code & 3);
	/* By CAS: it may have woken by itself, and its node have been used for
	 * something else since. Orders nothing, as it goes back to the word. */
	if (try_cmpxchg_relaxed(&head->state, &state, HEAD))
		kick_value(&head->state, READ_ONCE(head->vcpu));
}

__cold void lk_qspin_kick(struct lk_qspin *lock)
{
	if (!(READ_ONCE(lock->pending) & (LK_Q_HALTED >> 8)))
		return;
	/* [qspinlock.M] ACQUIRE, pairs with qspinlock.L. Before the entry is
	 * claimed: a flag set after this one stays. */
	(void)atomic_fetch_andnot_acquire(LK_Q_HALTED, &lock->val);
	kick(lock, 0);
}

/* The head sleeps until an unlock kicks it; may return early. */
static void halt_head(struct lk_qspin *lock, struct qnode *node, u32 busy)
{
	WRITE_ONCE(node->state, HEAD_ASLEEP);
	if (ask_for_kick(lock, READ_ONCE(node->halts), busy)) {
		/* [qspinlock.K] MB (heavy), pairs with qspinlock.J. Spare
		 * none: the model takes the bytes of a word for one location,
		 * and so orders them; a CPU does not. */
		smp_mb_heavy();
		if (atomic_read(&lock->val) & busy)
			halt_on_value(&node->state, HEAD_ASLEEP);
	} else {
		give_way();
	}
	WRITE_ONCE(node->state, HEAD);
}

/* Spins until it is the head, or as long as that makes sense; then halts. */
static void wait_halting(struct qnode *node, u32 prev_vcpu)
{
	u32 state = QUEUED, rounds = 0;

	begin_waiting();
	while (!should_halt(&rounds) && !vcpu_is_preempted(prev_vcpu)) {
		if (READ_ONCE(node->state) != QUEUED)
			return;
		cpu_relax();
	}
	if (!try_cmpxchg_relaxed(&node->state, &state, ASLEEP))
		return;
	while (READ_ONCE(node->state) == ASLEEP)
		halt_on_value(&node->state, ASLEEP);
}

/* The holder makes its successor the head; our unlock kicks one asleep. */
static void make_head(struct lk_qspin *lock, struct qnode *next)
{
	u16 code = waiters_halt() ? READ_ONCE(next->halts) : 0;
	u32 state = QUEUED;

	if (!code) {
		/* [qspinlock.N] RELEASE, pairs with qspinlock.O: a head that
		 * takes the lock by a store has to see that we hold it. */
		smp_store_release(&next->state, HEAD);
		return;
	}
	/* Orders nothing: it takes the lock by compare-and-exchange. */
	if (try_cmpxchg_relaxed(&next->state, &state, HEAD))
		return;
	WRITE_ONCE(next->state, HEAD_ASLEEP);
	state = HEAD_ASLEEP;
	if (!ask_for_kick(lock, code, LK_Q_PENDING) &&
	    try_cmpxchg_relaxed(&next->state, &state, HEAD))
		kick_value(&next->state, READ_ONCE(next->vcpu));
}

/* -- the queue ----------------------------------------------------------- */

/* The head waits until the lock is free of @busy: the word as it was then. */
static u32 head_wait(struct lk_qspin *lock, struct qnode *node, u32 busy)
{
	u32 val, rounds;

	if (!READ_ONCE(node->halts)) {
		/* [qspinlock.F] ACQUIRE, pairs with qspinlock.B and .H: when
		 * stopped, the stores of the taker need no more than this load;
		 * and a tail that is not ours tells of a clean node behind us. */
		return atomic_cond_read_acquire(&lock->val, !(VAL & busy));
	}
	for (;;) {
		begin_waiting();
		rounds = 0;
		do {
			/* [qspinlock.F] */
			val = smp_load_acquire(&lock->val.counter);
			if (!(val & busy))
				return val;
			cpu_relax();
		} while (!should_halt(&rounds));
		halt_head(lock, node, busy);
	}
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
static bool head_take(struct lk_qspin *lock, struct qnode *node, u32 tail,
		      bool alone)
{
	u32 val, busy = LK_Q_LOCKED_PENDING, lost = 0;
	bool stopped = false;

	for (;;) {
		val = head_wait(lock, node, busy);
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
		} else if (alone) {
			/* Nobody else may set it while a queue waits. */
			WRITE_ONCE(lock->locked, LK_Q_LOCKED);
			return false;
		} else if (take_half_as_head(lock)) {
			return false;
		}
		if (!alone && !stopped && ++lost > steal_patience() &&
		    stop_stealing(lock)) {
			stopped = true;
			busy = LK_Q_LOCKED_MASK;
		}
	}
}

/* An arrival's successors know from it where it runs and how it waits. */
static void wait_in_queue(struct qnode *node, struct qnode *prev,
			  enum lk_qspin_mode mode)
{
	u32 prev_vcpu, rounds = 0;

	if (mode != LK_QSPIN_PV && mode != LK_QSPIN_AUTO) {
		/* [qspinlock.O] ACQUIRE, pairs with qspinlock.N. */
		smp_cond_load_acquire(&node->state, VAL != QUEUED);
		return;
	}
	prev_vcpu = READ_ONCE(prev->vcpu);
	if (READ_ONCE(node->halts)) {
		wait_halting(node, prev_vcpu);
		return;
	}
	while (READ_ONCE(node->state) == QUEUED) {
		if (vcpu_is_preempted(prev_vcpu))
			saw_preempted();
		cpu_relax_wait(&rounds);
	}
}

static void lock_queued(struct lk_qspin *lock, u32 slot, u32 level,
			enum lk_qspin_mode mode)
{
	struct qnode *node = wait_node(qnodes, slot, level), *next = NULL;
	u16 code = (u16)(slot << 2 | level), old;
	bool last, halts = waiters_halt() && mode == LK_QSPIN_PV;

	if (halts)
		atomic_add(1, &lk_qspin_halting);
	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->state, QUEUED);
	WRITE_ONCE(node->vcpu, this_vcpu());
	WRITE_ONCE(node->halts, halts ? code : 0);
	/* [qspinlock.H] WMB, pairs with qspinlock.F and .I: the node is clean
	 * before it can be found. */
	smp_wmb();
	/* [qspinlock.I] address dependency, pairs with qspinlock.H. */
	old = xchg_relaxed_dep(&lock->tail, code);
	if (old) {
		WRITE_ONCE(decode(old)->next, node);
		wait_in_queue(node, decode(old), mode);
	}
	last = head_take(lock, node, (u32)code << LK_Q_TAIL_SHIFT,
			 mode == LK_QSPIN_ONLY_FAIR);
	if (halts) {
		/* Makes room in the table; whom else it finds, it wakes. */
		kick(lock, code);
		atomic_sub(1, &lk_qspin_halting);
	}
	if (last)
		return;
	/* Its node is clean: head_take() has seen its tail, by qspinlock.F. */
	next = smp_cond_load_relaxed(&node->next, VAL);
	make_head(lock, next);
}

/* -- the slow path ------------------------------------------------------- */

/* What is best where we run now. */
static enum lk_qspin_mode choose_mode(void)
{
	if (cpus_are_short())
		return LK_QSPIN_PV;
	return on_hypervisor() ? LK_QSPIN_STEAL : LK_QSPIN_FAIR;
}

__cold bool lk_qspin_trylock_slow(struct lk_qspin *lock,
				  enum lk_qspin_mode mode)
{
	u32 val = lk_qspin_adopt(lock, atomic_read(&lock->val));

	if (!half_is_free((u16)val))
		return false;
	if (lk_qspin_steals(mode == LK_QSPIN_AUTO ? choose_mode() : mode))
		return take_half(lock);
	return val == wait_tag() && lk_qspin_take_word(lock, &val);
}

/* What an arrival does before it queues; true: it has the lock. */
static bool enter(struct lk_qspin *lock, u32 val, enum lk_qspin_mode mode)
{
	switch (mode) {
	case LK_QSPIN_FAIR:
	case LK_QSPIN_ONLY_FAIR:
		return wait_as_pending(lock, val);
	case LK_QSPIN_STEAL: /* to queue takes the line from the holder twice */
		return steal(lock, brief_spins(),
			     LK_Q_PENDING | LK_Q_TAIL_MASK);
	case LK_QSPIN_PV:
		return steal(lock, steal_rounds(), LK_Q_PENDING);
	default:
		return take_half(lock);
	}
}

/* Past the queue, or, where nobody may, once there is none. */
static void wait_without_node(struct lk_qspin *lock, enum lk_qspin_mode mode)
{
	if (mode != LK_QSPIN_ONLY_FAIR) {
		wait_tas(lock);
		return;
	}
	do {
		atomic_cond_read_relaxed(&lock->val, (u32)VAL == wait_tag());
	} while (!lk_qspin_trylock(lock, mode));
}

static inline void lock_slow(struct lk_qspin *lock, u32 val,
			     enum lk_qspin_mode mode)
{
	u32 slot = this_slot(), level;
	enum lk_qspin_mode now = mode == LK_QSPIN_AUTO ? choose_mode() : mode;

	val = lk_qspin_adopt(lock, val);
	if (enter(lock, val, now))
		return;
	/* No slot left, or nested too deep: wait without a node, unfairly. */
	if (now == LK_QSPIN_TAS || unlikely(!slot) ||
	    unlikely(wait_depth(qnodes) >= LKP_MAX_NEST)) {
		wait_without_node(lock, now);
		return;
	}
	level = wait_depth(qnodes)++;
	barrier(); /* a signal handler's lock from here on is one level up */
	lock_queued(lock, slot, level, now == LK_QSPIN_PV ? now : mode);
	barrier();
	wait_depth(qnodes)--;
}

__cold void lk_qspin_lock_slow(struct lk_qspin *lock, u32 val,
			       enum lk_qspin_mode mode)
{
	/* While sleepers queue every arrival comes here: no detour for those
	 * that find the lock free. */
	if ((mode == LK_QSPIN_PV || mode == LK_QSPIN_AUTO) &&
	    atomic_read(&lk_qspin_halting) && take_half(lock))
		return;
	queue_enter();
	lock_slow(lock, val, mode);
	queue_exit();
}

static void init(void *lock)
{
	lk_qspin_init(lock);
}

static void lock_fair(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_ONLY_FAIR);
}

static bool trylock_fair(void *lock)
{
	return lk_qspin_trylock(lock, LK_QSPIN_ONLY_FAIR);
}

static void lock_steal(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_STEAL);
}

static bool trylock_steal(void *lock)
{
	return lk_qspin_trylock(lock, LK_QSPIN_STEAL);
}

static void lock_tas(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_TAS);
}

static bool trylock_tas(void *lock)
{
	return lk_qspin_trylock(lock, LK_QSPIN_TAS);
}

static void lock_pv(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_PV);
}

static bool trylock_pv(void *lock)
{
	return lk_qspin_trylock(lock, LK_QSPIN_PV);
}

static void lock_auto(void *lock)
{
	lk_qspin_lock(lock, LK_QSPIN_AUTO);
}

static bool trylock_auto(void *lock)
{
	return lk_qspin_trylock(lock, LK_QSPIN_AUTO);
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
		.trylock = trylock_##mode,            \
		.unlock = unlock,                     \
		.last_waiter = last,                  \
	}

QSPIN_OPS(fair, "queued spinlock: pending bit, then a FIFO queue",
	  LK_FIFO | LK_FORKS, last_waiter);
QSPIN_OPS(steal, "queued spinlock: arrivals may steal; the queue is FIFO",
	  LK_FORKS, last_waiter);
QSPIN_OPS(tas, "queued spinlock in test-and-set mode: unfair, no queue",
	  LK_FORKS, NULL);
QSPIN_OPS(pv,
	  "queued spinlock for more threads than CPUs: arrivals may steal, "
	  "waiters sleep",
	  LK_FORKS, last_waiter);
QSPIN_OPS(auto, "queued spinlock: chooses fair, steal or pv at run time",
	  LK_FORKS, last_waiter);
