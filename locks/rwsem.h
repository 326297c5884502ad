/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_RWSEM_H
#define LK_RWSEM_H

/*
 * Sleeping read/write lock with optimistic spinning: 24 bytes.
 *
 *   word    bit 0  W  a writer holds
 *           bit 1  Q  somebody is on the list
 *           bit 2  H  hand-off: the first on the list comes before all arrivals
 *           bit 3  L  look: the first on the list is asleep, so an unlock that
 *                     would leave the lock free has to wake it
 *           bits 4-31 readers that hold
 *   owner   hint, while W: the writer's next_owner()
 *   first   sleepers, by priority, then FIFO; on their stacks; under wait_lock
 *   osq     spinners; an OSQ or another queue of that size (spinners.h)
 *   epoch   the fork epoch that first, osq and wait_lock belong to
 *
 * Q, H and L change under wait_lock only; H and L are clear whenever Q is.
 *
 * As (W, Q, H, L, readers):
 *
 *   (-,-,-,-,0) --write--> (W,-,-,-,0) --unlock--> (-,-,-,-,0)    one CAS each
 *   (-,-,-,-,n) --read-->  (-,-,-,-,n+1) --unlock--> (-,-,-,-,n)  one CAS each
 *   (W,-,-,-,0) --sleeper--> (W,Q,-,L,0) --unlock--> (-,Q,-,L,0), and
 *      the first is a writer: --> (-,Q,-,-,0), it is woken, and competes
 *      the first is a reader: --> (-,*,-,*,n): all readers on the list, up to a
 *      limit, hold now; the unlocker counted them, and wakes them
 *   (-,Q,-,-,0) --write--> (W,Q,-,-,0) --unlock--> (-,Q,-,-,0)    one CAS each
 *   (W,Q,-,-,0) --the first has lost, and sleeps--> (W,Q,-,L,0)
 *   (*,Q,*,L,*) --the first has waited for long--> (*,Q,H,L,*)
 *   (-,Q,H,-,0) --the first, awake--> (W,*,-,*,0)
 *
 * Invariants:
 *  1. W excludes W and readers. A thread that sets W, or adds itself as a reader,
 *     holds. A reader on the list is added by another thread, which sets GRANTED.
 *  2. Under wait_lock L says that the first on the list is ASLEEP. An unlock that
 *     leaves the lock free with L set does so under wait_lock. So a sleeper, which
 *     reads the word under wait_lock after it has set L, either finds the lock
 *     free or is found.
 *  3. A free lock with sleepers has one that is awake: the first, if it writes; or
 *     an unlocker watches it for a moment, and has seen it taken or wakes one.
 *  4. The first sleeper is passed by arrivals until it has lost overtake_limit()
 *     times, or has slept for rwsem_patience_us(); then H is set. H goes with it.
 *  5. H keeps nobody from a free lock for longer than a nap: a sleeper whose nap
 *     is over takes what is free, because the first may be stopped. Nor does it keep
 *     a reader from readers that hold, if the first should have ended it by then.
 *     Sleeps are naps in user space only; and LK_READER_QUEUES waits on.
 *
 * Arrivals pass sleepers until then because CPUs stay busy so when threads
 * outnumber them.
 *
 * After (-,Q,H,L,n) for rwsem_drain_us() the readers that hold may be waiting for a
 * reader on the list. So then the readers on the list hold, too, except those of kind
 * LK_READER_QUEUES: (-,Q,H,L,n+m). H stays, so that all later ones queue until that is
 * done again: after twice as long, doubling up to rwsem_doubles() times. A writer waits
 * for ever only behind readers that do, and behind LK_READER_NESTS.
 *
 * The next holder may free the lock's memory as soon as the lock is free: an unlock
 * touches nothing after its RMW, or holds wait_lock, without which no sleeper
 * leaves.
 *
 * Sources: the kernel's rw_semaphore as described in its documentation and in the
 * text of Waiman Long's 2019 mails on it (count, waiters' bit and hand-off bit in
 * one word; optimistic spinning; readers woken together). The steps, the patience
 * and what ends a hand-off are this file's own.
 */
#include "osq_lock.h"
#include "spinners.h"
#include "tas_lock.h"
#include "wait_ring.h"

#define LK_RWSEM_WRITER	 1u
#define LK_RWSEM_QUEUED	 2u
#define LK_RWSEM_HANDOFF 4u
#define LK_RWSEM_LOOK	 8u
#define LK_RWSEM_READER	 16u
/* All that waiters leave in the word. */
#define LK_RWSEM_MARKS	    (LK_RWSEM_QUEUED | LK_RWSEM_HANDOFF | LK_RWSEM_LOOK)
#define LK_RWSEM_READERS(w) ((u32)(w) / LK_RWSEM_READER)

/* Its waiters spin or sleep; none rests. */
#define LK_RWSEM_WAYS (LK_WAY_SLEEP + 1u)

struct lk_rwsem {
	atomic_t word;
	u32 owner;
	struct lk_ring *first;
	struct lk_osq osq;
	struct lk_tas wait_lock;
	u8 epoch;
};

/* clang-format off */
#define LK_RWSEM_INIT { .word = ATOMIC_INIT(0) }
/* clang-format on */

/* How a reader treats those that wait. All readers of one lock may differ. */
enum lk_rwsem_reader {
	LK_READER_PASSES, /* passes sleepers unless H is set */
	LK_READER_QUEUES, /* passes no sleeper: writers first */
	/* Passes them always: its thread may hold a read lock of it already. */
	LK_READER_NESTS,
	LK_READER_TRIES, /* as LK_READER_PASSES, or what is free though H is set */
};

/* What a thread wants of the lock. */
struct lk_rwsem_want {
	u32 gain; /* LK_RWSEM_WRITER or LK_RWSEM_READER */
	enum lk_rwsem_reader how;
};

/* A sleeper, on its own stack; all of it under wait_lock but state and queued. */
struct lk_rwsem_waiter {
	struct lk_ring ring;
	u32 state;
	struct lk_rwsem_want want;
	u32 lost;  /* races, as the first on the list */
	u64 since; /* local_clock() when it queued */
	u64 due;   /* as the first that has set H: when that is to end */
	bool more; /* once granted: readers are left that it has to grant */
	bool vain; /* and how: see grant_readers() */
	bool timed; /* it went to sleep as the first, no longer than its patience */
	bool queued; /* for its thread alone: on the list, or granted there */
} __wait_record;

/*
 * 0, or -ETIMEDOUT past @deadline (NULL: never). @queue: where to spin; NULL: in
 * the OSQ.
 */
int lk_rwsem_lock_slow(struct lk_rwsem *s, const struct lkp_deadline *deadline,
		       const struct lk_spin_queue *queue);
int lk_rwsem_read_lock_slow(struct lk_rwsem *s, enum lk_rwsem_reader how,
			    const struct lkp_deadline *deadline,
			    const struct lk_spin_queue *queue);
/*
 * The same with the caller's @w; @queue may be NULL as there. For lk_rwsem_abandon(), @w
 * must be zero before the call.
 */
int lk_rwsem_lock_as(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		     const struct lkp_deadline *deadline,
		     const struct lk_spin_queue *queue);
int lk_rwsem_read_lock_as(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
			  enum lk_rwsem_reader how,
			  const struct lkp_deadline *deadline,
			  const struct lk_spin_queue *queue);
/*
 * Takes the caller's @w off the list, and passes on what it was told or granted: the
 * call that waits there ended early, by a long jump or with its thread. False: a
 * section of @s was cut off; @s cannot be used any more.
 */
bool lk_rwsem_abandon(struct lk_rwsem *s, struct lk_rwsem_waiter *w);
/* As lk_rwsem_lock_slow(), without spinning first. */
int lk_rwsem_sleep(struct lk_rwsem *s, const struct lkp_deadline *deadline);
void lk_rwsem_unlock_slow(struct lk_rwsem *s, u32 what);
/* A writer that holds reads from here on; no writer was in between. */
void lk_rwsem_downgrade(struct lk_rwsem *s);
/* After a fork: forgets the waiters that the child does not have. */
void lk_rwsem_check_epoch(struct lk_rwsem *s);

static inline bool lk_rwsem_may_read(u32 word, enum lk_rwsem_reader how)
{
	u32 stop = LK_RWSEM_WRITER;

	if (how == LK_READER_PASSES ||
	    (how == LK_READER_TRIES && word & ~LK_RWSEM_MARKS))
		stop |= LK_RWSEM_HANDOFF;
	else if (how == LK_READER_QUEUES)
		stop |= LK_RWSEM_QUEUED;
	return !(word & stop);
}

/* As a writer, if the word has none but those @marks. */
static inline bool lk_rwsem_lock_if(struct lk_rwsem *s, u32 marks)
{
	u32 word = atomic_read(&s->word);

	while (!(word & ~marks)) {
		/* [rwsem.A] ACQUIRE, pairs with rwsem.B, .C and .D: the last
		 * writer's writes, and the reads are done. */
		if (!atomic_try_cmpxchg_acquire(&s->word, &word,
						word | LK_RWSEM_WRITER))
			continue;
		leave_owner(&s->owner);
		return true;
	}
	return false;
}

static inline bool lk_rwsem_trylock(struct lk_rwsem *s)
{
	return lk_rwsem_lock_if(s, LK_RWSEM_QUEUED | LK_RWSEM_LOOK);
}

static inline bool lk_rwsem_read_trylock(struct lk_rwsem *s,
					 enum lk_rwsem_reader how)
{
	u32 word = atomic_read(&s->word);

	while (lk_rwsem_may_read(word, how)) {
		/* [rwsem.E] ACQUIRE, pairs with rwsem.B and .D: the last
		 * writer's writes. */
		if (atomic_try_cmpxchg_acquire(&s->word, &word,
					       word + LK_RWSEM_READER))
			return true;
	}
	return false;
}

/*
 * The two try calls. They first clean a lock whose waiters were lost in a fork. A try takes
 * what is free though H is set, because the thread that H is for may be stopped.
 */
static inline bool lk_rwsem_try_write(struct lk_rwsem *s)
{
	if (likely(lk_rwsem_trylock(s)))
		return true;
	lk_rwsem_check_epoch(s);
	return lk_rwsem_lock_if(s, LK_RWSEM_MARKS);
}

static inline bool lk_rwsem_try_read(struct lk_rwsem *s,
				     enum lk_rwsem_reader how)
{
	if (likely(lk_rwsem_read_trylock(s, how)))
		return true;
	lk_rwsem_check_epoch(s);
	return lk_rwsem_read_trylock(
		s, how == LK_READER_PASSES ? LK_READER_TRIES : how);
}

/* One CAS with no read before it: the line comes over once, exclusive. */
static inline bool lk_rwsem_lock_fast(struct lk_rwsem *s)
{
	u32 word = 0;

	/* [rwsem.A] */
	if (unlikely(!atomic_try_cmpxchg_acquire(&s->word, &word,
						 LK_RWSEM_WRITER)))
		return false;
	leave_owner(&s->owner);
	return true;
}

static inline void lk_rwsem_lock(struct lk_rwsem *s)
{
	if (unlikely(!lk_rwsem_lock_fast(s)))
		lk_rwsem_lock_slow(s, NULL, NULL);
}

static inline void lk_rwsem_read_lock(struct lk_rwsem *s)
{
	if (unlikely(!lk_rwsem_read_trylock(s, LK_READER_PASSES)))
		lk_rwsem_read_lock_slow(s, LK_READER_PASSES, NULL, NULL);
}

static inline void lk_rwsem_unlock(struct lk_rwsem *s)
{
	u32 word = LK_RWSEM_WRITER;

	/* Q is mostly set while CPUs are short, and L is not: the first is awake, and
	 * waits for a CPU. */
	do {
		/* [rwsem.B] RELEASE, pairs with rwsem.A, .E, rwsem_sleep.A and
		 * rwsem_list.A. */
		if (likely(atomic_try_cmpxchg_release(&s->word, &word,
						      word - LK_RWSEM_WRITER)))
			return;
	} while (!(word & LK_RWSEM_LOOK));
	lk_rwsem_unlock_slow(s, LK_RWSEM_WRITER);
}

static inline void lk_rwsem_read_unlock(struct lk_rwsem *s)
{
	u32 word = atomic_read(&s->word);

	/* Nobody to look after, or others read on: their unlocks will look. */
	while (!(word & LK_RWSEM_LOOK) || LK_RWSEM_READERS(word) > 1) {
		/* [rwsem.C] RELEASE, pairs with rwsem.A and rwsem_sleep.A: our
		 * reads are done. */
		if (atomic_try_cmpxchg_release(&s->word, &word,
					       word - LK_RWSEM_READER))
			return;
	}
	lk_rwsem_unlock_slow(s, LK_RWSEM_READER);
}

/* Operations in the catalogue's form. @queue is as above: NULL is the OSQ. */
void lk_rwsem_op_init(void *lock);
bool lk_rwsem_op_trylock(void *lock);
bool lk_rwsem_op_timedlock(void *lock, u64 ns,
			   const struct lk_spin_queue *queue);
void lk_rwsem_op_unlock(void *lock);
bool lk_rwsem_op_read_trylock(void *lock);
bool lk_rwsem_op_read_timedlock(void *lock, u64 ns,
				const struct lk_spin_queue *queue);
void lk_rwsem_op_read_unlock(void *lock);
void lk_rwsem_op_downgrade(void *lock);
u64 lk_rwsem_last_waiter(const void *lock);

#endif
