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
	/* Where waiters leave: its own code, and the fork epoch in which it queued. */
	u16 code;
	u16 epoch;
};

/*
 * QUEUED --predecessor--> HEAD              waits on the word from here on
 * QUEUED --itself--> ASLEEP --predecessor--> HEAD_ASLEEP --kick--> HEAD
 *                                           HEAD --itself--> HEAD_ASLEEP
 * QUEUED, ASLEEP --itself--> LEFT           still in the queue, but nobody waits there
 * LEFT --the one before it--> OUT
 */
enum { QUEUED, HEAD, ASLEEP, HEAD_ASLEEP, LEFT, OUT };

/* What a waiter has come to. LAST: TAKEN, and the queue is empty with that. */
enum outcome { TAKEN, LAST, QUEUES, GONE };

/* To have halted once is to have waited for more rounds than any number. */
#define HALTED (~0u)

DEFINE_WAIT_NODES(struct qnode, qnodes);

/* Has its line alone in the kernel: in that section all objects begin a line. */
atomic_t lk_qspin_halting __cacheline_aligned;

/* Where an unlock finds halted in the lock's word, nobody asks for their number. */
static inline bool halting_is_counted(void)
{
	return spin_outlives_unlock();
}

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

/*
 * (*,1,0) -> (*,0,1), whoever set pending; false: it is another state. @kept: LK_Q_HALTED, or
 * 0 for the head, which does not sleep now.
 */
static bool __lockfunc take_from_pending(struct lk_qspin *lock, u16 kept)
{
	u16 half = READ_ONCE(lock->locked_pending);
	u16 tag = (u16)wait_tag();

	while ((half & ~LK_Q_HALTED) == (tag | LK_Q_PENDING)) {
		/* [qspinlock.C] */
		if (try_cmpxchg_acquire(
			    &lock->locked_pending, &half,
			    (u16)((half & kept) | tag | LK_Q_LOCKED)))
			return true;
	}
	return false;
}

/*
 * The owner of the pending bit becomes the holder; nobody else may write. Where waiters
 * leave, another one may have taken the lock from it: false then. @kept: as above.
 */
static inline bool pending_to_locked(struct lk_qspin *lock, u16 kept)
{
	if (waiters_leave())
		return take_from_pending(lock, kept);
	WRITE_ONCE(lock->locked_pending, (u16)(wait_tag() | LK_Q_LOCKED));
	return true;
}

/*
 * Whether a waiter finds free what it waits for. If that is so for long, a thread ahead of it
 * does not run, and it leaves.
 */
static inline bool may_leave(const struct lk_qspin_watch *watch)
{
	u32 word;

	if (!watch)
		return false;
	word = READ_ONCE(*watch->word);
	return !(word &
		 (word & watch->mark ? watch->busy_if_marked : watch->busy));
}

/* take_half() for the head; clears halted, because no head sleeps now. */
static inline bool take_half_as_head(struct lk_qspin *lock)
{
	u16 half = READ_ONCE(lock->locked_pending);

	/* [qspinlock.C] */
	return half_is_free(half) &&
	       try_cmpxchg_acquire(&lock->locked_pending, &half,
				   (u16)(wait_tag() | LK_Q_LOCKED));
}

/* An arrival takes the lock past the queue, while the word has none of @never. */
static bool __lockfunc steal(struct lk_qspin *lock, u32 rounds, u32 never)
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
static u32 __lockfunc let_pending_take(struct lk_qspin *lock, u32 val)
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
 * the word. It queues if another thread has that place, or a queue waits.
 */
static enum outcome __lockfunc wait_as_pending(
	struct lk_qspin *lock, u32 val, const struct lk_qspin_watch *watch)
{
	u32 held;

	val = let_pending_take(lock, val);
	do {
		if (!nobody_waits(val))
			return QUEUES;
		held = val & LK_Q_LOCKED_MASK;
		/* [qspinlock.D] ACQUIRE, pairs with qspinlock.B and .S: (0,0,1) ->
		 * (0,1,1), or (0,0,0) -> (0,0,1) if it is free by now. */
	} while (!atomic_try_cmpxchg_acquire(
		&lock->val, &val, val | (held ? LK_Q_PENDING : LK_Q_LOCKED)));
	if (!held)
		return TAKEN;
	do {
		/* [qspinlock.E] ACQUIRE, pairs with qspinlock.B and .S. */
		if (smp_cond_load_acquire_or_stall(&lock->locked, !VAL,
						   may_leave(watch))) {
			atomic_andnot(LK_Q_PENDING, &lock->val);
			return GONE;
		}
		if (pending_to_locked(lock, LK_Q_HALTED))
			return TAKEN;
	} while (READ_ONCE(lock->locked_pending) & LK_Q_PENDING);
	return QUEUES;
}

/* -- halting ------------------------------------------------------------- */

/* Makes the sleeping head, whose node has @code, be found by an unlock; false: it cannot. */
static bool __lockfunc ask_for_kick(struct lk_qspin *lock, u16 code, u32 busy)
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
		/* [qspinlock.L] RELEASE, pairs with qspinlock.M and .S: a thread that
		 * sees the flag finds the entry. */
	} while (!atomic_try_cmpxchg_release(&lock->val, &val,
					     val | LK_Q_HALTED));
	return true;
}

/* Takes the entry for @lock away, and wakes whom it names but @self. */
static void __lockfunc kick(struct lk_qspin *lock, u16 self)
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

void __lockfunc lk_qspin_kick_head(struct lk_qspin *lock)
{
	kick(lock, 0);
}

void __lockfunc lk_qspin_kick(struct lk_qspin *lock)
{
	if (!(READ_ONCE(lock->pending) & (LK_Q_HALTED >> 8)))
		return;
	/* [qspinlock.M] ACQUIRE, pairs with qspinlock.L. Before the entry is
	 * claimed: a flag set after this one stays. */
	(void)atomic_fetch_andnot_acquire(LK_Q_HALTED, &lock->val);
	kick(lock, 0);
}

/* The head sleeps until an unlock kicks it: true; or it returns early: false. */
static bool __lockfunc halt_head(struct lk_qspin *lock, struct qnode *node,
				 u32 busy)
{
	bool kicked;

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
	kicked = READ_ONCE(node->state) == HEAD;
	WRITE_ONCE(node->state, HEAD);
	return kicked;
}

/* From @state: false if the one before it has made it the head. */
static bool __lockfunc leave(struct qnode *node, u32 state)
{
	/* Orders nothing: what is in the node stays as it is. */
	return try_cmpxchg_relaxed(&node->state, &state, LEFT);
}

/*
 * Spins until it is the head, or as long as that makes sense; then halts. True: it is the
 * head; false: it has left.
 */
static bool __lockfunc wait_halting(struct qnode *node, u32 prev_vcpu,
				    const struct lk_qspin_watch *watch)
{
	u32 state = QUEUED, rounds = 0;
	struct lkp_stall stall = { 0 };

	begin_waiting();
	while (!should_halt(&rounds)) {
		if (vcpu_is_preempted(prev_vcpu)) {
			saw_preempted();
			break;
		}
		if (READ_ONCE(node->state) != QUEUED)
			return true;
		cpu_relax();
	}
	if (!try_cmpxchg_relaxed(&node->state, &state, ASLEEP))
		return true;
	while (READ_ONCE(node->state) == ASLEEP) {
		halt_on_value(&node->state, ASLEEP);
		if (should_leave(HALTED, &stall, may_leave(watch)) &&
		    leave(node, ASLEEP))
			return false;
	}
	return true;
}

/* ASLEEP -> HEAD_ASLEEP; false: it has left. */
static bool __lockfunc let_sleep(struct qnode *next)
{
	u32 state = ASLEEP;

	if (waiters_leave())
		return try_cmpxchg_relaxed(&next->state, &state, HEAD_ASLEEP);
	WRITE_ONCE(next->state, HEAD_ASLEEP);
	return true;
}

/* For a successor asleep: if @holds, our unlock kicks it. False: it has left. */
static bool __lockfunc make_sleeper_head(struct lk_qspin *lock,
					 struct qnode *next, u16 code,
					 bool holds)
{
	u32 state = HEAD_ASLEEP;

	if (!let_sleep(next))
		return false;
	if ((!holds || !ask_for_kick(lock, code, LK_Q_PENDING)) &&
	    try_cmpxchg_relaxed(&next->state, &state, HEAD))
		kick_value(&next->state, READ_ONCE(next->vcpu));
	return true;
}

/* Makes the successor of the holder, or of a head that leaves, the head. */
static bool __lockfunc make_head(struct lk_qspin *lock, struct qnode *next,
				 bool holds)
{
	u16 code = waiters_halt() ? READ_ONCE(next->halts) : 0;
	u32 state = QUEUED;

	if (code) {
		/* Orders nothing: it takes the lock by compare-and-exchange. */
		return try_cmpxchg_relaxed(&next->state, &state, HEAD) ||
		       make_sleeper_head(lock, next, code, holds);
	}
	if (waiters_leave()) {
		/* [qspinlock.N] */
		return try_cmpxchg_release(&next->state, &state, HEAD);
	}
	/* [qspinlock.N] RELEASE, pairs with qspinlock.O: a head that takes the lock
	 * by a store has to see that we hold it. */
	smp_store_release(&next->state, HEAD);
	return true;
}

/* -- the queue ----------------------------------------------------------- */

/* What the head of the queue waits for, and how it fares. */
struct turn {
	u32 busy; /* it waits until the word has none of these */
	u32 lost; /* times that another one took the lock when it was free */
	bool stopped; /* the head has stopped the stealers: it owns pending */
};

/* Somebody else has taken the lock: from some time on, the head stops the stealers. */
static inline void lose(struct lk_qspin *lock, struct turn *turn)
{
	if (turn->stopped || ++turn->lost <= steal_patience())
		return;
	/* Orders nothing: the head still waits by qspinlock.F. */
	turn->stopped = !(atomic_fetch_or_relaxed(LK_Q_PENDING, &lock->val) &
			  LK_Q_PENDING);
	if (turn->stopped)
		turn->busy = LK_Q_LOCKED_MASK;
}

/*
 * The head waits until the word has no bit of @turn->busy. Returns the word. If that still
 * has one, the head must leave.
 */
static u32 __lockfunc head_wait(struct lk_qspin *lock, struct qnode *node,
				struct turn *turn,
				const struct lk_qspin_watch *watch)
{
	u32 val, rounds;
	bool kicked;
	struct lkp_stall stall = { 0 };

	if (!READ_ONCE(node->halts)) {
		/* [qspinlock.F] ACQUIRE, pairs with qspinlock.B, .H and .S: when
		 * stopped, the stores of the taker need no more than this load;
		 * and a tail that is not ours tells of a clean node behind us. */
		return atomic_cond_read_acquire_or_stall(
			&lock->val, !(VAL & turn->busy), may_leave(watch));
	}
	for (;;) {
		begin_waiting();
		rounds = 0;
		do {
			/* [qspinlock.F] */
			val = atomic_read_acquire(&lock->val);
			if (!(val & turn->busy))
				return val;
			cpu_relax();
		} while (!should_halt(&rounds));
		kicked = halt_head(lock, node, turn->busy);
		if (should_leave(HALTED, &stall, may_leave(watch)))
			return val;
		/* It was free when the head was kicked. */
		if (kicked && atomic_read(&lock->val) & turn->busy)
			lose(lock, turn);
	}
}

/* The head of the queue takes the lock; @tail is its own. */
static enum outcome __lockfunc head_take(struct lk_qspin *lock,
					 struct qnode *node, u32 tail,
					 bool alone,
					 const struct lk_qspin_watch *watch)
{
	struct turn turn = { .busy = LK_Q_LOCKED_PENDING };
	u32 val;

	for (;;) {
		val = head_wait(lock, node, &turn, watch);
		if (waiters_leave() && val & turn.busy) {
			if (turn.stopped)
				atomic_andnot(LK_Q_PENDING, &lock->val);
			return GONE;
		}
		if ((val & LK_Q_TAIL_MASK) == tail) {
			/* [qspinlock.G] ACQUIRE, pairs with qspinlock.B and .S. */
			if (atomic_try_cmpxchg_acquire(
				    &lock->val, &val, wait_tag() | LK_Q_LOCKED))
				return LAST;
			/* Somebody queued behind us, or stole the lock. */
			if (!(val & turn.busy))
				continue;
		} else if (turn.stopped) {
			if (pending_to_locked(lock, 0))
				return TAKEN;
			turn.stopped =
				READ_ONCE(lock->locked_pending) & LK_Q_PENDING;
			turn.busy = turn.stopped ? LK_Q_LOCKED_MASK
						 : LK_Q_LOCKED_PENDING;
		} else if (alone) {
			/* Nobody else may set it while a queue waits. */
			WRITE_ONCE(lock->locked, LK_Q_LOCKED);
			return TAKEN;
		} else if (take_half_as_head(lock)) {
			return TAKEN;
		}
		if (!alone)
			lose(lock, &turn);
	}
}

/* Waits behind @prev. True: it is the head; false: it has left. */
static bool __lockfunc wait_in_queue(struct qnode *node, struct qnode *prev,
				     enum lk_qspin_mode mode,
				     const struct lk_qspin_watch *watch)
{
	u32 prev_vcpu, rounds = 0;
	struct lkp_stall stall = { 0 };

	if (mode != LK_QSPIN_PV && mode != LK_QSPIN_AUTO) {
		do {
			/* [qspinlock.O] ACQUIRE, pairs with qspinlock.N. */
			if (smp_cond_load_acquire_or_stall(
				    &node->state, VAL != QUEUED,
				    may_leave(watch)) != QUEUED)
				return true;
		} while (!leave(node, QUEUED));
		return false;
	}
	prev_vcpu = READ_ONCE(prev->vcpu);
	if (READ_ONCE(node->halts))
		return wait_halting(node, prev_vcpu, watch);
	while (READ_ONCE(node->state) == QUEUED) {
		if (vcpu_is_preempted(prev_vcpu))
			saw_preempted();
		cpu_relax_wait(&rounds);
		if (should_leave(rounds, &stall, may_leave(watch)) &&
		    leave(node, QUEUED))
			return false;
	}
	return true;
}

/* Who is behind @node, which is not in the queue any more; NULL: nobody. */
static struct qnode *__lockfunc behind(struct lk_qspin *lock,
				       struct qnode *node)
{
	/* [qspinlock.P] ACQUIRE, pairs with qspinlock.H: that one's node is clean. */
	struct qnode *next = smp_load_acquire(&node->next);
	u16 code = READ_ONCE(node->code);

	if (next)
		return next;
	/* Orders nothing: the next to arrive finds no node. */
	if (try_cmpxchg_relaxed(&lock->tail, &code, 0))
		return NULL;
	/* [qspinlock.P] */
	return smp_cond_load_acquire(&node->next, VAL);
}

/* The head has come to @outcome: makes the next one that still waits the head. */
static void __lockfunc pass_on(struct lk_qspin *lock, struct qnode *node,
			       enum outcome outcome)
{
	struct qnode *next, *left;

	if (outcome == GONE)
		next = behind(lock, node);
	else /* its node is clean: head_take() has seen its tail, by qspinlock.F */
		next = smp_cond_load_relaxed(&node->next, VAL);
	while (next && !make_head(lock, next, outcome != GONE)) {
		left = next;
		next = behind(lock, left);
		/* [qspinlock.Q] RELEASE, pairs with qspinlock.R: nobody looks at it
		 * from here on. Spare relaxed: in the model a store comes after the
		 * loads before it. */
		smp_store_release(&left->state, OUT);
	}
}

static enum outcome __lockfunc lock_queued(struct lk_qspin *lock, u32 slot,
					   u32 level, enum lk_qspin_mode mode,
					   const struct lk_qspin_watch *watch)
{
	struct qnode *node = wait_node(qnodes, slot, level);
	u16 code = (u16)(slot << 2 | level), old;
	bool halts = waiters_halt() && mode == LK_QSPIN_PV;
	bool is_counted = halts && halting_is_counted();
	enum outcome outcome;

	if (is_counted)
		atomic_add(1, &lk_qspin_halting);
	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->state, QUEUED);
	WRITE_ONCE(node->vcpu, this_vcpu());
	WRITE_ONCE(node->halts, halts ? code : 0);
	if (waiters_leave()) {
		WRITE_ONCE(node->code, code);
		WRITE_ONCE(node->epoch, wait_epoch());
	}
	/* [qspinlock.H] WMB, pairs with qspinlock.F, .I and .P: the node is clean
	 * before it can be found. */
	smp_wmb();
	/* [qspinlock.I] address dependency, pairs with qspinlock.H. */
	old = xchg_relaxed_dep(&lock->tail, code);
	if (old) {
		WRITE_ONCE(decode(old)->next, node);
		if (!wait_in_queue(node, decode(old), mode, watch)) {
			if (is_counted)
				atomic_sub(1, &lk_qspin_halting);
			return GONE;
		}
	}
	outcome = head_take(lock, node, (u32)code << LK_Q_TAIL_SHIFT,
			    mode == LK_QSPIN_ONLY_FAIR, watch);
	if (halts) {
		/* One that took the lock has cleared halted. Orders nothing: who may
		 * set it again becomes the head by our step after this one. */
		if (outcome == GONE)
			atomic_andnot(LK_Q_HALTED, &lock->val);
		/* Makes room in the table; whom else it finds, it wakes. */
		kick(lock, code);
	}
	if (is_counted)
		atomic_sub(1, &lk_qspin_halting);
	if (outcome != LAST)
		pass_on(lock, node, outcome);
	return outcome;
}

/* -- the slow path ------------------------------------------------------- */

/* What is best where we run now. */
static enum lk_qspin_mode choose_mode(void)
{
	if (cpus_are_short())
		return LK_QSPIN_PV;
	return on_hypervisor() ? LK_QSPIN_STEAL : LK_QSPIN_FAIR;
}

__cold bool __lockfunc lk_qspin_trylock_slow(struct lk_qspin *lock,
					     enum lk_qspin_mode mode)
{
	u32 val = lk_qspin_adopt(lock, atomic_read(&lock->val));

	if (!half_is_free((u16)val))
		return false;
	if (lk_qspin_steals(mode == LK_QSPIN_AUTO ? choose_mode() : mode))
		return take_half(lock);
	return val == wait_tag() && lk_qspin_take_word(lock, &val);
}

/* What an arrival does before it queues. */
static enum outcome __lockfunc enter(struct lk_qspin *lock, u32 val,
				     enum lk_qspin_mode mode,
				     const struct lk_qspin_watch *watch)
{
	bool taken;

	switch (mode) {
	case LK_QSPIN_FAIR:
	case LK_QSPIN_ONLY_FAIR:
		return wait_as_pending(lock, val, watch);
	case LK_QSPIN_STEAL: /* to queue takes the line from the holder twice */
		taken = steal(lock, steal_rounds(),
			      LK_Q_PENDING | LK_Q_TAIL_MASK);
		break;
	case LK_QSPIN_PV: /* a waiter in the queue may be off its CPU, and block it */
		taken = steal(lock,
			      cpus_are_short() ? short_rounds()
					       : steal_rounds(),
			      LK_Q_PENDING);
		break;
	default:
		taken = take_half(lock);
	}
	return taken ? TAKEN : QUEUES;
}

/* Past the queue. Once it has waited for too long it takes the lock from a pending waiter. */
static enum outcome __lockfunc wait_tas(struct lk_qspin *lock,
					const struct lk_qspin_watch *watch)
{
	bool is_own = watch && watch->word == (const u32 *)&lock->val;
	u16 half;

	do {
		half = smp_cond_load_relaxed_or_stall(&lock->locked_pending,
						      half_is_free(VAL),
						      may_leave(watch));
		if (waiters_leave() && !half_is_free(half)) {
			if (!is_own)
				return GONE;
			if (take_from_pending(lock, LK_Q_HALTED))
				return TAKEN;
		}
	} while (!take_half(lock));
	return TAKEN;
}

/* Takes the lock past the queue. In a mode where nobody may, waits until there is none. */
static enum outcome __lockfunc
wait_without_node(struct lk_qspin *lock, enum lk_qspin_mode mode,
		  const struct lk_qspin_watch *watch)
{
	if (mode != LK_QSPIN_ONLY_FAIR)
		return wait_tas(lock, watch);
	do {
		if ((u32)atomic_cond_read_relaxed_or_stall(
			    &lock->val, (u32)VAL == wait_tag(),
			    may_leave(watch)) != wait_tag())
			return GONE;
	} while (!lk_qspin_trylock(lock, mode));
	return TAKEN;
}

/* Whether no queue has the node. A waiter that left it there may have been a signal handler's. */
static bool __lockfunc node_is_free(u32 slot, u32 level)
{
	struct qnode *node = wait_node(qnodes, slot, level);

	/* [qspinlock.R] ACQUIRE, pairs with qspinlock.Q: it was read for the last time
	 * before we write to it. Spare relaxed: in the model a store comes after the
	 * loads before it. */
	return smp_load_acquire(&node->state) != LEFT ||
	       READ_ONCE(node->epoch) != wait_epoch();
}

/* Takes the first level from this thread's @depth on whose node is free; else LKP_MAX_NEST. */
static u32 __lockfunc take_level(u32 slot, u32 depth)
{
	u32 level;

	for (level = depth; level < LKP_MAX_NEST; level++) {
		wait_depth(qnodes) = level + 1;
		/* From here on a signal handler's lock is above this level. Only then may
		 * we look: the handler may leave its node in a queue. */
		barrier();
		if (!waiters_leave() || node_is_free(slot, level))
			break;
	}
	return level;
}

static inline enum outcome __lockfunc
lock_slow(struct lk_qspin *lock, u32 val, enum lk_qspin_mode mode,
	  const struct lk_qspin_watch *watch)
{
	u32 slot = this_slot(), depth, level;
	enum lk_qspin_mode now = mode == LK_QSPIN_AUTO ? choose_mode() : mode;
	enum outcome outcome;

	val = lk_qspin_adopt(lock, val);
	outcome = enter(lock, val, now, watch);
	if (outcome != QUEUES)
		return outcome;
	depth = wait_depth(qnodes);
	level = LKP_MAX_NEST;
	if (now != LK_QSPIN_TAS && likely(slot))
		level = take_level(slot, depth);
	/* No slot left, or nested too deep: wait without a node, unfairly. */
	if (unlikely(level >= LKP_MAX_NEST))
		outcome = wait_without_node(lock, now, watch);
	else
		outcome = lock_queued(lock, slot, level,
				      now == LK_QSPIN_PV ? now : mode, watch);
	barrier();
	wait_depth(qnodes) = depth;
	return outcome;
}

void __lockfunc lk_qspin_lock_slow(struct lk_qspin *lock, u32 val,
				   enum lk_qspin_mode mode)
{
	const struct lk_qspin_watch itself = {
		.word = (const u32 *)&lock->val,
		.busy = LK_Q_LOCKED_MASK,
	};

	/* While sleepers queue every arrival comes here: no detour for those
	 * that find the lock free. */
	if ((mode == LK_QSPIN_PV || mode == LK_QSPIN_AUTO) &&
	    halting_is_counted() && atomic_read(&lk_qspin_halting) &&
	    take_half(lock))
		return;
	queue_enter();
	if (lock_slow(lock, val, mode,
		      mode == LK_QSPIN_ONLY_FAIR ? NULL : &itself) == GONE)
		wait_tas(lock, &itself);
	queue_exit();
}

bool __lockfunc lk_qspin_lock_or_leave_slow(struct lk_qspin *lock, u32 val,
					    enum lk_qspin_mode mode,
					    const struct lk_qspin_watch *watch)
{
	enum outcome outcome;

	queue_enter();
	outcome = lock_slow(lock, val, mode, watch);
	queue_exit();
	return outcome != GONE;
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
