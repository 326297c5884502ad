// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A queued spinlock whose word names the holder's virtual CPU: waiters that see it off its
 * CPU ask the hypervisor to run it.
 *
 *   holder  the holder's virtual CPU + 1; 0: free. Below 2^16
 *   tail    the code of the last node; 0: no queue
 *   closed  bit 15 of the tail's half: arrivals may not take the lock
 *   state   of a node: 0 it waits; HEAD: it waits on the word
 *   count   of a node: what the one before it says of the holder: its virtual CPU + 1
 *           while that is off its CPU, else 0. May be stale
 *
 *   (0,0) --lock a--> (a,0)                  one compare-and-exchange
 *   (a,0) --lock b--> (a,b)                  after a while; b is the head
 *   (0,b) --lock c--> (c,b)                  c steals it, unless closed
 *   (0,b) --b--> (b,0)   (0,d) --b--> (b,d)  and its next is the head
 *
 * Who yields: an arrival and the head to a holder off its CPU; a waiter in the queue to
 * the holder that it is told of.
 *
 * Invariants: only the head sets closed, and clears it by taking the lock; a node becomes
 * the head once, made so by the one before it, and nobody writes to it after that.
 *
 * Written from the messages of three commits of Nicholas Piggin's powerpc/qspinlock
 * series, 2022-11-26 (84990b169557 the queue, 6aa42f883c43 the stealing, 28db61e207ea
 * what the head tells the queue), and of s390's queued spinlock (b96f7d881ad9), which
 * names the holder in the word for the hypervisor. Waiman Long's proposal of July 2020
 * to do so, and the other messages of the series, were not at hand. Left out: the prod of a
 * new head, longer stealing once a guest was seen to be short of CPUs, that the head lets
 * arrivals steal again while it yields, and that a waiter in the queue also yields to the
 * one before it: simulated, such waiters took turns for ever. Assumed: how long an arrival tries,
 * pending_rounds(), and how long the head lets arrivals steal, four times that.
 */
#include "catalogue.h"
#include "rival_node.h"

struct lk_qspin_owner {
	union {
		u32 word;
		struct {
			u16 holder;
			u16 tail;
		};
	};
};

#define HOLDER	   0xffffu
#define TAIL_SHIFT 16
#define TAIL	   0x7fff0000u
#define CLOSED	   0x80000000u
#define HEAD	   ((uintptr_t)1)

static inline u32 own(void)
{
	return this_vcpu() + 1;
}

/* Past the queue; fails if the lock is held or closed. */
static bool trylock(void *lock)
{
	struct lk_qspin_owner *owner = lock;
	u32 val = READ_ONCE(owner->word);

	while (!(val & (HOLDER | CLOSED)))
		/* [qspin_owner.A] ACQUIRE, pairs with qspin_owner.B: see the last
		 * holder's writes. */
		if (try_cmpxchg_acquire(&owner->word, &val, val | own()))
			return true;
	return false;
}

/* @who is a virtual CPU + 1, or 0. True: it was off its real one. */
static bool yield_if_preempted(u32 who)
{
	if (!who || !vcpu_is_preempted(who - 1))
		return false;
	yield_to_vcpu(who - 1);
	return true;
}

/* An arrival tries for a while. */
static bool steal(struct lk_qspin_owner *owner)
{
	u32 rounds = 0, val;

	while (rounds < pending_rounds()) {
		if (trylock(owner))
			return true;
		val = READ_ONCE(owner->word);
		if (val & CLOSED)
			return false;
		if (yield_if_preempted(val & HOLDER))
			rounds++;
		else
			cpu_relax_wait(&rounds);
	}
	return false;
}

/* Says to the one behind @node that @holder is off its CPU. @told: what it knows. */
static u32 tell(struct lk_rival_node *node, u32 holder, u32 told)
{
	struct lk_rival_node *next;

	if (holder == told)
		return told;
	/* [qspin_owner.C] ACQUIRE, pairs with qspin_owner.D: its node is clean. */
	next = smp_load_acquire(&node->next);
	if (!next)
		return told;
	WRITE_ONCE(next->count, holder);
	return holder;
}

static void wait_in_queue(struct lk_rival_node *node,
			  struct lk_rival_node *before)
{
	u32 told = 0, holder;

	/* [qspin_owner.D] RELEASE, pairs with qspin_owner.C: the node is clean. */
	smp_store_release(&before->next, node);
	/* [qspin_owner.E] ACQUIRE, pairs with qspin_owner.F: nobody writes to the node
	 * any more. */
	while (!smp_load_acquire(&node->state)) {
		holder = READ_ONCE(node->count);
		told = tell(node, holder, told);
		if (!yield_if_preempted(holder))
			cpu_relax();
	}
}

/* True: nobody is behind the head, and there is no queue any more. */
static bool take_as_head(struct lk_qspin_owner *owner,
			 struct lk_rival_node *node, u32 code)
{
	u32 val, tail, rounds = 0, told = 0;
	bool closed = false, off;

	for (;;) {
		val = READ_ONCE(owner->word);
		while (!(val & HOLDER)) {
			tail = (val & TAIL) == code ? 0 : val & TAIL;
			/* [qspin_owner.A], and a tail that is not ours has found our
			 * node. */
			if (try_cmpxchg_acquire(&owner->word, &val,
						tail | own()))
				return !tail;
		}
		off = vcpu_is_preempted((val & HOLDER) - 1);
		told = tell(node, off ? val & HOLDER : 0, told);
		if (!closed && rounds >= 4 * pending_rounds()) {
			/* Orders nothing: we still wait. */
			closed = try_cmpxchg_relaxed(&owner->word, &val,
						     val | CLOSED);
			continue;
		}
		if (off) {
			yield_to_vcpu((val & HOLDER) - 1);
			rounds++;
		} else if (closed) {
			cpu_relax();
		} else {
			cpu_relax_wait(&rounds);
		}
	}
}

/* Becomes the tail: the code of the one before, 0 if there is none. */
static u32 queue_up(struct lk_qspin_owner *owner, u32 code)
{
	u32 val = READ_ONCE(owner->word);

	/* [qspin_owner.G] WMB, pairs with qspin_owner.H: the node is clean before it
	 * can be found. */
	smp_wmb();
	/* [qspin_owner.H] ACQUIRE, pairs with qspin_owner.G: find that node clean. */
	while (!try_cmpxchg_acquire(&owner->word, &val, (val & ~TAIL) | code))
		;
	return val & TAIL;
}

static void lock_queued(struct lk_qspin_owner *owner,
			struct lk_rival_node *node)
{
	u32 code = lk_rival_code() << TAIL_SHIFT, before;
	struct lk_rival_node *next;

	/* The published lock names the CPU here as well: what that costs counts. */
	WRITE_ONCE(node->vcpu, this_vcpu());
	WRITE_ONCE(node->count, 0);
	before = queue_up(owner, code);
	if (before)
		wait_in_queue(node, lk_rival_decode(before >> TAIL_SHIFT));
	if (take_as_head(owner, node, code))
		return;
	/* [qspin_owner.C] */
	next = smp_cond_load_acquire(&node->next, VAL);
	/* [qspin_owner.F] RELEASE, pairs with qspin_owner.E: what we told it. */
	smp_store_release(&next->state, HEAD);
}

static void lock(void *lock)
{
	struct lk_qspin_owner *owner = lock;
	u32 free = 0;

	/* [qspin_owner.A] */
	if (likely(try_cmpxchg_acquire(&owner->word, &free, own())) ||
	    steal(owner))
		return;
	lock_queued(owner, lk_rival_push());
	lk_rival_pop();
}

static void unlock(void *lock)
{
	/* [qspin_owner.B] RELEASE, pairs with qspin_owner.A: publish the section. */
	smp_store_release(&((struct lk_qspin_owner *)lock)->holder, 0);
}

static void init(void *lock)
{
	*(struct lk_qspin_owner *)lock = (struct lk_qspin_owner){ { 0 } };
}

const struct lk_ops lk_qspinlock_owner_ops = {
	.name = "qspinlock_owner",
	.summary = "powerpc's queued spinlock (2022): waiters yield to a "
		   "holder off its CPU",
	.size = sizeof(struct lk_qspin_owner),
	.align = _Alignof(struct lk_qspin_owner),
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
};
