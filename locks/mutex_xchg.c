// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* mutex_xchg.h has states, invariants and sources. */
#include "catalogue.h"
#include "mutex_xchg.h"
#include "wait_list.h"

/* A sleeper, on its own stack. */
struct waiter {
	struct lk_ring ring; /* under wait_lock */
	u32 state;	     /* changed under wait_lock */
} __wait_record;

enum { ASLEEP, AWAKE };

/* -- wait_lock ----------------------------------------------------------- */

/* After a fork the list and wait_lock name threads that are gone. */
static __cold void forget_the_gone(struct lk_mutex_xchg *m)
{
	if (lk_wait_list_claim(&m->epoch, true, &m->first, &m->wait_lock))
		lk_epoch_done(&m->epoch);
}

/* Not lk_wait_list_lock(): no handler uses this mutex, so it has no sections. */
static inline void list_lock(struct lk_mutex_xchg *m)
{
	if (lk_epoch_is_old(&m->epoch))
		forget_the_gone(m);
	queue_enter(); /* a holder off its CPU would stop all */
	lk_tas_lock(&m->wait_lock);
}

static inline void list_unlock(struct lk_mutex_xchg *m)
{
	lk_tas_unlock(&m->wait_lock);
	queue_exit();
}

/* -- spinning ------------------------------------------------------------ */

/*
 * Watches the owner for as long as it runs; true if there is none then. An
 * owner that has changed is the sign of a crowd, in which to sleep.
 */
static bool owner_gone(struct lk_mutex_xchg *m)
{
	u32 found = READ_ONCE(m->owner), owner = found;

	while ((int)owner >= 0) {
		if (owner != found || need_resched() ||
		    owner_is_preempted(owner))
			return false;
		cpu_relax();
		owner = READ_ONCE(m->owner);
	}
	return true;
}

/* Each spinner for itself, and for the line: it tries before it reads. */
static bool spin_on_word(struct lk_mutex_xchg *m)
{
	begin_waiting();
	while (!need_resched() && owner_gone(m)) {
		if (lk_mutex_xchg_trylock(m))
			return true;
		cpu_relax();
	}
	return false;
}

/* -- sleeping ------------------------------------------------------------ */

/* Under wait_lock: says that somebody waits, whatever the word is. */
static bool ask(struct lk_mutex_xchg *m)
{
	/* [mutex_xchg.A] */
	return atomic_xchg_acquire(&m->word, LK_MX_WANTED) == LK_MX_FREE;
}

/* It asks when it has queued, and again in each round: twice before it sleeps. */
static void sleep_until_held(struct lk_mutex_xchg *m)
{
	bool taken;
	struct waiter w = { .ring.priority = this_priority() };
	u32 naps = 0;

	list_lock(m);
	lk_ring_insert(&m->first, &w.ring);
	taken = ask(m);
	while (!taken && !ask(m)) {
		WRITE_ONCE(w.state, ASLEEP);
		list_unlock(m);
		/* Relaxed: wait_lock orders what is behind it. */
		while (READ_ONCE(w.state) == ASLEEP)
			wait_on_value(&w.state, ASLEEP, NULL, naps++);
		list_lock(m);
	}
	lk_ring_remove(&m->first, &w.ring);
	/* Nobody to tell: let the unlock be a fast one. */
	if (!m->first)
		atomic_set(&m->word, LK_MX_HELD);
	WRITE_ONCE(m->owner, next_owner(0));
	list_unlock(m);
}

__cold void lk_mutex_xchg_lock_slow(struct lk_mutex_xchg *m)
{
	if (!spin_on_word(m))
		sleep_until_held(m);
}

/* -- unlocking ----------------------------------------------------------- */

/* Under wait_lock: what to wake once it is free, or NULL. */
static u32 *wake_first(struct lk_mutex_xchg *m)
{
	struct waiter *first;

	if (!m->first)
		return NULL;
	first = container_of(m->first, struct waiter, ring);
	if (READ_ONCE(first->state) != ASLEEP)
		return NULL;
	WRITE_ONCE(first->state, AWAKE);
	return &first->state;
}

__cold void lk_mutex_xchg_unlock_slow(struct lk_mutex_xchg *m)
{
	u32 *wake;

	list_lock(m);
	/* [mutex_xchg.C] RELEASE, pairs with mutex_xchg.A: as mutex_xchg.B. A
	 * plain store: only the holder, which we still are, frees the word. */
	atomic_set_release(&m->word, LK_MX_FREE);
	wake = wake_first(m);
	list_unlock(m);
	if (wake)
		wake_value(wake);
}

/* -- catalogue ----------------------------------------------------------- */

static void init(void *lock)
{
	*(struct lk_mutex_xchg *)lock =
		(struct lk_mutex_xchg)LK_MUTEX_XCHG_INIT;
}

static void lock(void *lock)
{
	lk_mutex_xchg_lock(lock);
}

static bool trylock(void *lock)
{
	return lk_mutex_xchg_trylock(lock);
}

static void unlock(void *lock)
{
	lk_mutex_xchg_unlock(lock);
}

/* The last sleeper; spinners are on no list. */
static u64 last_waiter(const void *lock)
{
	struct lk_mutex_xchg *m = (struct lk_mutex_xchg *)lock;
	u64 last;

	list_lock(m);
	last = m->first ? (u64)(uintptr_t)m->first->prev : 0;
	list_unlock(m);
	return last;
}

const struct lk_ops lk_mutex_xchg_ops = {
	.name = "mutex_xchg",
	.summary = "baseline: sleeping mutex with an atomic operation at every "
		   "check",
	.size = sizeof(struct lk_mutex_xchg),
	.align = _Alignof(struct lk_mutex_xchg),
	.flags = LK_SLEEPS | LK_FIFO | LK_FORKS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
	.last_waiter = last_waiter,
};
