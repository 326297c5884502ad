// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_rwlock_*: the qrwlock's counts, with a FIFO list of sleepers for its
 * queue.
 *
 *   offset  0 cnts    bit 0 a writer holds, bit 1 the list is not empty,
 *                     bit 2 the list comes first: nobody new may pass;
 *                     readers from bit 3
 *           4 lock, 5 epoch   guard the list
 *           8 first   the list: a ring, first in line
 *          16 owner   hint: the writer's CPU
 *          20 mark    it is ours, see mark.c
 *          24 cur_writer      its thread id
 *          48 flags   glibc's kind, which static initializers set
 *
 * Arrivals may pass sleepers, which keeps CPUs busy when threads outnumber
 * them; so the first sleeper sets bit 2 when it has waited PATIENCE_NS, and
 * then the lock drains towards it: no reader or writer starves, as long as
 * nobody holds a read lock for longer than a drain lasts.
 *
 * glibc's default kind lets readers in whoever waits, and programs rely on it:
 * a thread locks again what it already reads, or waits, reading, for another
 * reader. So a thread that holds a read lock passes even while draining, and
 * who drained in vain for DRAIN_NS lets everybody in for a while before the next
 * attempt. With PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP no reader passes
 * sleepers.
 */
#include "preload.h"

#include "epoch.h"
#include "tas_lock.h"
#include "wait_ring.h"

#include <string.h>

#define WRITER	   1u
#define QUEUED	   2u
#define DRAIN	   4u
#define READER	   8u
#define READERS(c) ((c) / READER)

#define PATIENCE_NS 1000000ull
#define DRAIN_NS    20000000ull
/* Both double after each vain attempt, so often. */
#define MAX_DOUBLES 5u

enum { ASLEEP, READY };

struct waiter {
	struct lk_ring ring;
	u32 state;
	bool writer;
};

struct rwlock {
	atomic_t cnts;
	struct lk_tas lock;
	u8 epoch;
	struct lk_ring *first;
	u32 owner;
	u32 mark;
	u32 cur_writer;
	u32 unused[5];
	u32 flags;
};

_Static_assert(sizeof(struct rwlock) == sizeof(pthread_rwlock_t), "size");
_Static_assert(offsetof(struct rwlock, flags) ==
		       offsetof(pthread_rwlock_t, __data.__flags),
	       "flags");

static inline struct rwlock *ours(pthread_rwlock_t *l)
{
	return (struct rwlock *)l;
}

/* Static initializers clear all words before flags, and set one of its kinds. */
static __cold bool adopt(struct rwlock *l)
{
	return l->flags <= PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP &&
	       lw_adopt((u32 *)l, offsetof(struct rwlock, flags) / sizeof(u32),
			&l->mark);
}

static inline bool is_glibcs(pthread_rwlock_t *l)
{
	return unlikely(READ_ONCE(ours(l)->mark) != LW_MARK) && !adopt(ours(l));
}

/* -- the counts ---------------------------------------------------------- */

static inline bool may_write(u32 cnts, bool first)
{
	return !(cnts & ~(first ? QUEUED | DRAIN : QUEUED));
}

static inline bool may_read(const struct rwlock *l, u32 cnts, bool first)
{
	if (cnts & WRITER)
		return false;
	if (first || likely(!(cnts & (QUEUED | DRAIN))))
		return true;
	if (l->flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
		return false;
	return !(cnts & DRAIN) || lw_self.readers;
}

/* One attempt, repeated while only the count changes under it. */
static bool take(struct rwlock *l, bool writer, bool first)
{
	u32 cnts = atomic_read(&l->cnts);

	if (writer) {
		while (may_write(cnts, first)) {
			if (!atomic_try_cmpxchg_acquire(&l->cnts, &cnts,
							cnts | WRITER))
				continue;
			WRITE_ONCE(l->owner, this_vcpu());
			WRITE_ONCE(l->cur_writer, lw_tid());
			return true;
		}
		return false;
	}
	while (may_read(l, cnts, first)) {
		if (!atomic_try_cmpxchg_acquire(&l->cnts, &cnts, cnts + READER))
			continue;
		lw_self.readers++;
		return true;
	}
	return false;
}

static bool spin(struct rwlock *l, bool writer)
{
	begin_waiting();
	while (!need_resched()) {
		u32 cnts = atomic_read(&l->cnts);

		if (take(l, writer, false))
			return true;
		if ((cnts & DRAIN) ||
		    ((cnts & WRITER) && vcpu_is_preempted(READ_ONCE(l->owner))))
			return false;
		cpu_relax();
	}
	return false;
}

/* -- the list ------------------------------------------------------------ */

/*
 * After a fork the waiters are gone, and so are the list's flags. A handler that
 * tries the lock may come here while its own thread is here: so signals wait.
 */
static __cold void forget_the_gone(struct rwlock *l)
{
	u64 signals = lw_block_signals();

	if (lk_epoch_claim(&l->epoch)) {
		WRITE_ONCE(l->first, NULL);
		WRITE_ONCE(l->lock.locked, 0);
		__atomic_fetch_and(&l->cnts.counter, ~(QUEUED | DRAIN),
				   __ATOMIC_RELAXED);
		lk_epoch_done(&l->epoch);
	}
	lw_restore_signals(signals);
}

/* The same for a handler that unlocks. Returns what list_unlock() wants. */
static u64 list_lock(struct rwlock *l)
{
	u64 signals;

	if (lk_epoch_is_old(&l->epoch))
		forget_the_gone(l);
	signals = lw_block_signals();
	lk_tas_lock(&l->lock);
	return signals;
}

static void list_unlock(struct rwlock *l, u64 signals)
{
	lk_tas_unlock(&l->lock);
	lw_restore_signals(signals);
}

static inline struct waiter *waiter_of(struct lk_ring *link)
{
	return container_of(link, struct waiter, ring);
}

static void append(struct rwlock *l, struct waiter *w)
{
	if (!l->first)
		atomic_or(QUEUED, &l->cnts);
	lk_ring_append(&l->first, &w->ring);
}

/* Also ends the draining if it was for this one. */
static void unlink_waiter(struct rwlock *l, struct waiter *w)
{
	u32 gone = l->first == &w->ring ? DRAIN : 0;

	lk_ring_remove(&l->first, &w->ring);
	if (!l->first)
		gone |= QUEUED;
	if (gone)
		__atomic_fetch_and(&l->cnts.counter, ~gone, __ATOMIC_RELAXED);
}

/* Under the list lock: what to wake after it, or NULL. */
static u32 *ready_first(struct rwlock *l)
{
	struct waiter *first = waiter_of(l->first);

	if (!l->first || READ_ONCE(first->state) == READY)
		return NULL;
	WRITE_ONCE(first->state, READY);
	return &first->state;
}

static void list_unlock_and_wake(struct rwlock *l, u64 signals, u32 *state)
{
	list_unlock(l, signals);
	if (state)
		lw_futex_wake(state, 1);
}

/* -- sleeping ------------------------------------------------------------ */

/* Drained in vain: readers may have to go first, so let them. */
static void stop_draining(struct rwlock *l)
{
	u64 signals = list_lock(l);
	struct lk_ring *link;

	__atomic_fetch_and(&l->cnts.counter, ~DRAIN, __ATOMIC_RELAXED);
	for (link = l->first->next; link != l->first; link = link->next) {
		struct waiter *w = waiter_of(link);

		if (w->writer)
			continue;
		WRITE_ONCE(w->state, READY);
		lw_futex_wake(&w->state, 1);
	}
	list_unlock(l, signals);
}

/* What the first in line is at: waiting patiently, or having the lock drained. */
struct phase {
	struct lw_deadline end; /* wake-ups in between do not move it */
	bool begun;
	u32 vain; /* times that draining did not help */
};

/*
 * The first in line sleeps for its patience, then has the lock drained for a
 * time, and so on; the others sleep until they are told. -ETIMEDOUT: the
 * caller's own deadline.
 */
static int nap(struct rwlock *l, struct waiter *w, bool first,
	       const struct lw_deadline *deadline, struct phase *phase)
{
	bool draining = atomic_read(&l->cnts) & DRAIN;
	u64 ns = (draining ? DRAIN_NS : PATIENCE_NS) << phase->vain;

	if (!first || (deadline && deadline_within(deadline, ns)))
		return lw_futex_wait(&w->state, ASLEEP, deadline);
	if (!phase->begun)
		deadline_after(&phase->end, ns);
	phase->begun = true;
	if (!lw_futex_wait(&w->state, ASLEEP, &phase->end))
		return 0;
	phase->begun = false;
	if (draining) {
		stop_draining(l);
		phase->vain += phase->vain < MAX_DOUBLES;
	} else {
		atomic_or(DRAIN, &l->cnts);
	}
	return 0;
}

/*
 * Off the list. A new writer's unlock will tell the next in line. Otherwise it
 * is told now: a reader may go too, and a writer's patience begins.
 */
static void go(struct rwlock *l, struct waiter *w, bool taken)
{
	u64 signals = list_lock(l);
	u32 *next = NULL;

	unlink_waiter(l, w);
	if (!taken || !w->writer)
		next = ready_first(l);
	list_unlock_and_wake(l, signals, next);
}

static int sleep_for(struct rwlock *l, bool writer,
		     const struct lw_deadline *deadline)
{
	struct waiter w = { .state = ASLEEP, .writer = writer };
	struct phase phase = { .begun = false };
	bool first;
	u64 signals;
	int err = 0;

	signals = list_lock(l);
	append(l, &w);
	list_unlock(l, signals);
	for (;;) {
		/*
		 * ASLEEP is visible before we look whether it is our turn: either
		 * we see that, or who makes it so sees us asleep.
		 */
		xchg(&w.state, (u32)ASLEEP);
		first = smp_load_acquire(&l->first) == &w.ring;
		if (take(l, writer, first))
			break;
		if (err) {
			go(l, &w, false);
			return ETIMEDOUT;
		}
		err = nap(l, &w, first, deadline, &phase);
	}
	go(l, &w, true);
	return 0;
}

/* One attempt that does not mind waiters which a child does not have. */
static bool try_take(struct rwlock *l, bool writer)
{
	if (likely(take(l, writer, false)))
		return true;
	if (!lk_epoch_is_old(&l->epoch))
		return false;
	forget_the_gone(l);
	return take(l, writer, false);
}

/* -- lock and unlock ----------------------------------------------------- */

static int lock_until(struct rwlock *l, bool writer, clockid_t clock,
		      const struct timespec *when)
{
	struct lw_deadline deadline;

	if (when && bad_time(when)) /* here glibc looks first, unlike mutexes */
		return EINVAL;
	if (likely(take(l, writer, false)))
		return 0;
	if ((atomic_read(&l->cnts) & WRITER) &&
	    READ_ONCE(l->cur_writer) == lw_tid())
		return EDEADLK;
	(void)lw_policy(); /* the knobs */
	if (spin(l, writer))
		return 0;
	if (when)
		deadline = deadline_at(clock, when);
	return sleep_for(l, writer, when ? &deadline : NULL);
}

/*
 * Gives back @what (WRITER or READER). While anybody is queued the last step
 * is under the list lock: the sleeper cannot leave, so the lock stays allocated
 * until we are done with it.
 */
static void unlock_slow(struct rwlock *l, u32 what)
{
	u32 cnts, *wake = NULL;
	u64 signals;

	for (;;) {
		signals = list_lock(l);
		if (l->first)
			break;
		list_unlock(l, signals);
		cnts = atomic_read(&l->cnts);
		while (!(cnts & QUEUED)) {
			if (atomic_try_cmpxchg(&l->cnts, &cnts, cnts - what))
				return;
		}
	}
	cnts = __atomic_sub_fetch(&l->cnts.counter, what, __ATOMIC_SEQ_CST);
	if (!(cnts & WRITER) && !READERS(cnts))
		wake = ready_first(l);
	list_unlock_and_wake(l, signals, wake);
}

static int unlock(struct rwlock *l)
{
	u32 cnts = atomic_read(&l->cnts), what = READER;

	if (cnts & WRITER) {
		what = WRITER;
		WRITE_ONCE(l->cur_writer, 0);
	} else if (lw_self.readers) {
		lw_self.readers--;
	}
	/* Nobody queued, or not the last reader: one RMW, then hands off. */
	while (!(cnts & QUEUED) || (what == READER && READERS(cnts) > 1)) {
		if (atomic_try_cmpxchg_release(&l->cnts, &cnts, cnts - what))
			return 0;
	}
	unlock_slow(l, what);
	return 0;
}

/* -- pthread_rwlock_* ---------------------------------------------------- */

EXPORT int pthread_rwlock_init(pthread_rwlock_t *l,
			       const pthread_rwlockattr_t *attr)
{
	int shared = PTHREAD_PROCESS_PRIVATE, kind = PTHREAD_RWLOCK_DEFAULT_NP;

	if (attr) {
		pthread_rwlockattr_getpshared(attr, &shared);
		pthread_rwlockattr_getkind_np(attr, &kind);
	}
	memset(l, 0, sizeof(*l)); /* glibc's init may leave an old mark */
	if (shared == PTHREAD_PROCESS_SHARED)
		return __pthread_rwlock_init(l, attr);
	ours(l)->flags = (u32)kind;
	ours(l)->mark = LW_MARK;
	return 0;
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_destroy(l);
	if (lk_epoch_is_old(&ours(l)->epoch))
		forget_the_gone(ours(l));
	return atomic_read(&ours(l)->cnts) ? EBUSY : 0;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_rdlock(l);
	return lock_until(ours(l), false, 0, NULL);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_wrlock(l);
	return lock_until(ours(l), true, 0, NULL);
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_tryrdlock(l);
	return try_take(ours(l), false) ? 0 : EBUSY;
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_trywrlock(l);
	return try_take(ours(l), true) ? 0 : EBUSY;
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return lw_reals()->rwlock_timedrdlock(l, when);
	return lock_until(ours(l), false, CLOCK_REALTIME, when);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return lw_reals()->rwlock_timedwrlock(l, when);
	return lock_until(ours(l), true, CLOCK_REALTIME, when);
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return lw_reals()->rwlock_clockrdlock(l, clock, when);
	if (bad_clock(clock))
		return EINVAL;
	return lock_until(ours(l), false, clock, when);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return lw_reals()->rwlock_clockwrlock(l, clock, when);
	if (bad_clock(clock))
		return EINVAL;
	return lock_until(ours(l), true, clock, when);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_unlock(l);
	return unlock(ours(l));
}
