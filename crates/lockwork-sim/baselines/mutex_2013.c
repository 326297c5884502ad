// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The kernel's mutex before and after "mutex: Make more scalable by doing less atomic
 * operations" (Waiman Long, v2 1/3, 2013-04-15), as that mail describes both: one change,
 * so that nothing else differs.
 *
 *   word   0 free, 1 held, more: held, and its unlock has to look. (The kernel's counts
 *          1, 0 and down from there.)
 *
 *   0 --lock--> 1 --unlock--> 0                      one RMW, one RMW
 *   1 --arrival--> 2 --another--> 3 ...              each adds before it spins
 *   n --sleeper, when queued and each round--> 2     an exchange
 *   n --unlock--> n - 1 --under wait_lock--> 0, and the first is woken
 *
 * Spinners do not queue: that came by the mail behind it (2/3). Each watches the owner, and
 * tries when there is none. One that sees another owner takes it for the sign of a crowd,
 * and goes to sleep.
 *
 * mutex_2013_xchg tries by a compare-and-exchange and an exchange, whatever the word is.
 * mutex_2013_read reads the word first: a spinner tries only a free one, and a sleeper
 * exchanges only if the word does not say yet that somebody waits.
 *
 * mutex_xchg of locks/ is the first of them for all worlds. Here wait_lock is what it was
 * in that kernel: a ticket lock, so that the holder's unlock waits behind all arrivals; and
 * the wake-up is within it.
 *
 * Invariants: those of locks/mutex_xchg.h. Left out: forks, debugging, rt priorities.
 */
#include "catalogue.h"
#include "ticket_lock.h"
#include "wait_ring.h"

#define FREE   0u
#define HELD   1u
#define WANTED 2u

#define NOBODY (1u << 31)

struct lk_mutex_2013 {
	atomic_t word;
	u32 owner; /* the holder's CPU, a hint; or NOBODY */
	struct lk_ticket wait_lock;
	struct lk_ring *first; /* sleepers, FIFO; under wait_lock */
};

/* A sleeper, on its own stack. */
struct waiter {
	struct lk_ring ring; /* under wait_lock */
	u32 state;	     /* changed under wait_lock */
} __wait_record;

enum { ASLEEP, AWAKE };

/* -- wait_lock ----------------------------------------------------------- */

static inline void list_lock(struct lk_mutex_2013 *m)
{
	queue_enter();
	lk_ticket_lock(&m->wait_lock);
}

static inline void list_unlock(struct lk_mutex_2013 *m)
{
	lk_ticket_unlock(&m->wait_lock);
	queue_exit();
}

/* -- taking it ----------------------------------------------------------- */

static bool take(struct lk_mutex_2013 *m)
{
	u32 word = FREE;

	/* [mutex_2013.A] ACQUIRE, pairs with mutex_2013.B and .C: see the last holder's
	 * writes. */
	return atomic_try_cmpxchg_acquire(&m->word, &word, HELD);
}

static void own(struct lk_mutex_2013 *m)
{
	WRITE_ONCE(m->owner, next_owner(0));
}

/* Watches the owner for as long as it runs; true if there is none then. */
static bool owner_gone(struct lk_mutex_2013 *m)
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

static bool spin(struct lk_mutex_2013 *m, bool reads)
{
	begin_waiting();
	while (owner_gone(m)) {
		if ((!reads || atomic_read(&m->word) == FREE) && take(m))
			return true;
		if (need_resched())
			return false;
		cpu_relax();
	}
	return false;
}

/* Under wait_lock: says that somebody waits; true if it was free. */
static bool ask(struct lk_mutex_2013 *m, bool reads)
{
	if (reads && (u32)atomic_read(&m->word) >= WANTED)
		return false;
	/* [mutex_2013.A] */
	return atomic_xchg_acquire(&m->word, WANTED) == FREE;
}

static void sleep(struct lk_mutex_2013 *m, bool reads)
{
	struct waiter w = { .ring.priority = 0 };
	u32 naps = 0;
	bool taken;

	list_lock(m);
	lk_ring_insert(&m->first, &w.ring);
	taken = ask(m, reads);
	while (!taken && !ask(m, reads)) {
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
		atomic_set(&m->word, HELD);
	own(m);
	list_unlock(m);
}

static inline void lock_as(struct lk_mutex_2013 *m, bool reads)
{
	/* [mutex_2013.A] */
	if (likely(atomic_add_return_acquire(1, &m->word) == HELD))
		own(m);
	else if (spin(m, reads))
		own(m);
	else
		sleep(m, reads);
}

/* -- unlocking ----------------------------------------------------------- */

static __cold void wake_first(struct lk_mutex_2013 *m)
{
	struct waiter *first;

	list_lock(m);
	/* [mutex_2013.C] RELEASE, pairs with mutex_2013.A: as mutex_2013.B. A plain
	 * store: only the holder, which we still are, frees the word. */
	atomic_set_release(&m->word, FREE);
	if (m->first) {
		first = container_of(m->first, struct waiter, ring);
		if (READ_ONCE(first->state) == ASLEEP) {
			WRITE_ONCE(first->state, AWAKE);
			wake_value(&first->state);
		}
	}
	list_unlock(m);
}

static void unlock(void *lock)
{
	struct lk_mutex_2013 *m = lock;

	WRITE_ONCE(m->owner, NOBODY);
	/* [mutex_2013.B] RELEASE, pairs with mutex_2013.A: publish the section. What
	 * is left says that the mutex is still held, and wanted. */
	if (unlikely(atomic_sub_return_release(1, &m->word)))
		wake_first(m);
}

/* -- catalogue ----------------------------------------------------------- */

static void init(void *lock)
{
	struct lk_mutex_2013 *m = lock;

	atomic_set(&m->word, FREE);
	m->owner = NOBODY;
	m->wait_lock = (struct lk_ticket)LK_TICKET_INIT;
	m->first = NULL;
}

static bool trylock(void *lock)
{
	if (!take(lock))
		return false;
	own(lock);
	return true;
}

static void lock_xchg(void *lock)
{
	lock_as(lock, false);
}

static void lock_read(void *lock)
{
	lock_as(lock, true);
}

const struct lk_ops lk_mutex_2013_xchg_ops = {
	.name = "mutex_2013_xchg",
	.summary = "the mutex of Linux 3.7: an atomic operation at every check",
	.size = sizeof(struct lk_mutex_2013),
	.align = _Alignof(struct lk_mutex_2013),
	.flags = LK_SLEEPS,
	.init = init,
	.lock = lock_xchg,
	.trylock = trylock,
	.unlock = unlock,
};

const struct lk_ops lk_mutex_2013_read_ops = {
	.name = "mutex_2013_read",
	.summary = "the same, which reads before each atomic operation",
	.size = sizeof(struct lk_mutex_2013),
	.align = _Alignof(struct lk_mutex_2013),
	.flags = LK_SLEEPS,
	.init = init,
	.lock = lock_read,
	.trylock = trylock,
	.unlock = unlock,
};
