// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_cond_* and cnd_*: a FIFO list of waiters, each asleep on a word of
 * its own stack.
 *
 *   offset  0 lock, 1 epoch   both guard the list
 *           2 monotonic       the clock of timedwait
 *           4 mark            it is ours, see mark.c
 *           8 first           the list: a ring, first in line
 *          16 to 47           unused
 *
 * One waiter's state:
 *   WAITING --signal claims it--> CLAIMED --list lock released--> SIGNALLED
 *   WAITING --deadline or cancellation--> LEAVING (takes itself off the list)
 *
 * Who wakes the last waiter never touches the condvar after it set SIGNALLED,
 * and a waiter that was claimed does not touch it either: it may be freed by
 * then. destroy waits for those that are LEAVING. One exception: a waiter that
 * is cancelled right after a signal, while others waited behind it, passes that
 * signal on.
 */
#include "preload.h"

#include "epoch.h"
#include "tas_lock.h"
#include "wait_ring.h"

#include <string.h>

enum { WAITING, CLAIMED, SIGNALLED, LEAVING };

struct waiter {
	struct lk_ring ring;
	struct waiter *next; /* once claimed: among those to be posted */
	u32 state;
	bool pass_on; /* claimed by a signal, and others stayed behind */
	/* What a cancelled wait needs to put things right. */
	struct cond *cond;
	pthread_mutex_t *mutex;
	u32 depth;
};

struct cond {
	struct lk_tas lock;
	u8 epoch;
	u8 monotonic;
	u32 mark;
	struct lk_ring *first;
	u32 unused[8];
};

_Static_assert(sizeof(struct cond) == sizeof(pthread_cond_t), "size");

/*
 * Words that every static initializer clears. That of glibc 2.41, as it was
 * first released, leaves the last two as they are.
 */
#define CLEARED 10

static inline struct cond *ours(pthread_cond_t *c)
{
	return (struct cond *)c;
}

static inline bool is_glibcs(pthread_cond_t *c)
{
	u32 *mark = &ours(c)->mark;

	return unlikely(READ_ONCE(*mark) != LW_MARK) &&
	       !lw_adopt((u32 *)c, CLEARED, mark);
}

/* -- the list ------------------------------------------------------------ */

/* After a fork the waiters are gone, and who held the lock may be too. */
static void list_lock(struct cond *c)
{
	if (lk_epoch_is_old(&c->epoch) && lk_epoch_claim(&c->epoch)) {
		WRITE_ONCE(c->first, NULL);
		WRITE_ONCE(c->lock.locked, 0);
		lk_epoch_done(&c->epoch);
	}
	lk_tas_lock(&c->lock);
}

static void list_unlock(struct cond *c)
{
	lk_tas_unlock(&c->lock);
}

/*
 * Takes up to @max waiters off the list, in order, those that are leaving left
 * out; returns them linked by next, ended by NULL. They wait for post().
 */
static struct waiter *claim(struct cond *c, u32 max, bool by_signal)
{
	struct lk_ring *link = c->first, *last, *next;
	struct waiter *claimed = NULL, **end = &claimed;
	bool more = link != NULL;

	last = link ? link->prev : NULL;
	for (; more && max; link = next) {
		struct waiter *w = container_of(link, struct waiter, ring);
		u32 state = WAITING;

		more = link != last;
		next = link->next;
		if (!try_cmpxchg_acquire(&w->state, &state, CLAIMED))
			continue;
		lk_ring_remove(&c->first, link);
		w->pass_on = by_signal && c->first;
		w->next = NULL;
		*end = w;
		end = &w->next;
		max--;
	}
	return claimed;
}

/* Lets claimed waiters go. After the store each may be gone, memory and all. */
static void post(struct waiter *w)
{
	while (w) {
		struct waiter *next = w->next;

		smp_store_release(&w->state, SIGNALLED);
		lw_futex_wake(&w->state, 1);
		w = next;
	}
}

static void wake(struct cond *c, u32 max, bool by_signal)
{
	struct waiter *claimed;

	if (!READ_ONCE(c->first))
		return;
	list_lock(c);
	claimed = claim(c, max, by_signal);
	list_unlock(c);
	post(claimed);
}

/*
 * The waiter wants to go without a signal. True: it is off the list. False: a
 * signal was quicker, and is the waiter's.
 */
static bool leave(struct waiter *w)
{
	u32 state = WAITING;

	if (!try_cmpxchg_acquire(&w->state, &state, LEAVING)) {
		smp_cond_load_acquire(&w->state, VAL == SIGNALLED);
		return false;
	}
	list_lock(w->cond);
	lk_ring_remove(&w->cond->first, &w->ring);
	list_unlock(w->cond);
	return true;
}

/* -- waiting ------------------------------------------------------------- */

/* A cancelled wait: pass on the signal it swallowed, take the mutex back. */
static void cancelled(void *arg)
{
	struct waiter *w = arg;

	if (!leave(w) && w->pass_on)
		wake(w->cond, 1, true);
	lw_mutex_enter(w->mutex, w->depth);
}

/*
 * The sleep. Cancellation is let in around the system call only; state decides
 * who was first, it or a signal.
 */
static int sleep_until(struct waiter *w, const struct lw_deadline *deadline)
{
	int err = 0, type;

	while (!err && READ_ONCE(w->state) == WAITING) {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
		err = lw_futex_wait(&w->state, WAITING, deadline);
		pthread_setcanceltype(type, &type);
	}
	if (err && leave(w))
		return ETIMEDOUT;
	smp_cond_load_acquire(&w->state, VAL == SIGNALLED);
	return 0;
}

static int wait_until(pthread_cond_t *pc, pthread_mutex_t *mutex,
		      const struct lw_deadline *deadline)
{
	struct cond *c = ours(pc);
	struct waiter w = { .state = WAITING, .cond = c, .mutex = mutex };
	int err, result;

	list_lock(c);
	lk_ring_append(&c->first, &w.ring);
	list_unlock(c);
	err = lw_mutex_leave(mutex, &w.depth);
	if (err) {
		if (!leave(&w) && w.pass_on)
			wake(c, 1, true);
		return err;
	}
	pthread_cleanup_push(cancelled, &w);
	result = sleep_until(&w, deadline);
	pthread_cleanup_pop(0);
	err = lw_mutex_enter(mutex, w.depth);
	return err ? err : result;
}

/* -- pthread_cond_* ------------------------------------------------------ */

EXPORT int pthread_cond_init(pthread_cond_t *pc, const pthread_condattr_t *attr)
{
	int shared = PTHREAD_PROCESS_PRIVATE;
	clockid_t clock = CLOCK_REALTIME;

	if (attr) {
		pthread_condattr_getpshared(attr, &shared);
		pthread_condattr_getclock(attr, &clock);
	}
	memset(pc, 0, sizeof(*pc)); /* glibc's init may leave an old mark */
	if (shared == PTHREAD_PROCESS_SHARED)
		return lw_reals()->cond_init(pc, attr);
	ours(pc)->epoch = lk_epoch_today();
	ours(pc)->monotonic = clock == CLOCK_MONOTONIC;
	ours(pc)->mark = LW_MARK;
	return 0;
}

EXPORT int pthread_cond_destroy(pthread_cond_t *pc)
{
	struct cond *c = ours(pc);
	u32 rounds = 0;
	bool empty;

	if (is_glibcs(pc))
		return lw_reals()->cond_destroy(pc);
	/* Only waiters that are on their way out may be left: let them go. */
	for (;;) {
		list_lock(c);
		empty = !c->first;
		list_unlock(c);
		if (empty)
			return 0;
		cpu_relax_wait(&rounds);
	}
}

EXPORT int pthread_cond_signal(pthread_cond_t *pc)
{
	if (is_glibcs(pc))
		return lw_reals()->cond_signal(pc);
	wake(ours(pc), 1, true);
	return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *pc)
{
	if (is_glibcs(pc))
		return lw_reals()->cond_broadcast(pc);
	wake(ours(pc), ~0u, false);
	return 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *pc, pthread_mutex_t *mutex)
{
	if (is_glibcs(pc))
		return lw_reals()->cond_wait(pc, mutex);
	return wait_until(pc, mutex, NULL);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *pc, pthread_mutex_t *mutex,
				  const struct timespec *when)
{
	struct lw_deadline deadline;

	if (is_glibcs(pc))
		return lw_reals()->cond_timedwait(pc, mutex, when);
	if (bad_time(when))
		return EINVAL;
	deadline = deadline_at(
		ours(pc)->monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, when);
	return wait_until(pc, mutex, &deadline);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *pc, pthread_mutex_t *mutex,
				  clockid_t clock, const struct timespec *when)
{
	struct lw_deadline deadline;

	if (is_glibcs(pc))
		return lw_reals()->cond_clockwait(pc, mutex, clock, when);
	if (bad_time(when) || bad_clock(clock))
		return EINVAL;
	deadline = deadline_at(clock, when);
	return wait_until(pc, mutex, &deadline);
}

/* -- cnd_* --------------------------------------------------------------- */

EXPORT int cnd_init(cnd_t *cnd)
{
	_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "cnd_t");
	return thrd_result(pthread_cond_init((pthread_cond_t *)cnd, NULL));
}

EXPORT int cnd_signal(cnd_t *cnd)
{
	return thrd_result(pthread_cond_signal((pthread_cond_t *)cnd));
}

EXPORT int cnd_broadcast(cnd_t *cnd)
{
	return thrd_result(pthread_cond_broadcast((pthread_cond_t *)cnd));
}

EXPORT int cnd_wait(cnd_t *cnd, mtx_t *mtx)
{
	return thrd_result(pthread_cond_wait((pthread_cond_t *)cnd,
					     (pthread_mutex_t *)mtx));
}

EXPORT int cnd_timedwait(cnd_t *restrict cnd, mtx_t *restrict mtx,
			 const struct timespec *restrict when)
{
	return thrd_result(pthread_cond_timedwait(
		(pthread_cond_t *)cnd, (pthread_mutex_t *)mtx, when));
}

EXPORT void cnd_destroy(cnd_t *cnd)
{
	pthread_cond_destroy((pthread_cond_t *)cnd);
}
