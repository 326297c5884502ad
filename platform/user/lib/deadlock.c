// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * LOCKWORK_DEBUG: finds circles of threads that wait for each other's mutexes.
 *
 * A thread that is about to wait without a limit enters what it waits for into a
 * table, and then follows the chain: the mutex's holder, what that one waits for,
 * the holder of that, and so on. If the chain comes back to itself, it is a
 * deadlock.
 *
 * Each deadlock is found. Its threads have written that they hold, and entered
 * what they wait for, before a full fence; they follow the chain after it. So the
 * last one to pass its fence sees the whole circle.
 *
 * Nothing else is reported. The links of a chain are read one after another, so a
 * chain that has been seen once may never have been there as a whole. Each wait of an
 * entry has a number (its turn). If a second look finds the same waits in the same
 * order, then all of them lasted from the end of the first look to the start of the
 * second: they were there at once. A thread that waits takes and gives up nothing, so
 * it held, all that time, what the second look saw it hold.
 *
 * This holds for mutexes that only the calls of lockwork.h have locked and unlocked.
 * An operation that is inlined elsewhere (Rust) does not say who holds: a chain ends
 * at a mutex that it has locked.
 *
 * A wait with a limit ends by itself: it is not entered, and no chain goes on
 * through it. One case is reported though it may end: a thread's wait is interrupted
 * by a signal handler that holds a mutex, and the circle goes through both.
 */
#define _GNU_SOURCE
#include "debug.h"
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Threads that wait at one time; more are not looked after. */
#define WAITERS 4096u

static struct lw_debug_waiter waiters[WAITERS];
/* The thread of an entry that somebody is about to use. */
#define CLAIMED (~0ull)
/* No entry from here on has been used. */
static u32 waiters_end;

/* As in an entry. Threads of an earlier fork epoch are gone. */
static u64 key_of(u32 tid)
{
	return (u64)wait_epoch() << 32 | tid;
}

static struct lw_debug_waiter *find(u32 tid)
{
	u64 key = key_of(tid);
	u32 i, end = READ_ONCE(waiters_end);

	for (i = 0; i < end; i++)
		if (READ_ONCE(waiters[i].thread) == key)
			return &waiters[i];
	return NULL;
}

static void raise_end(u32 end)
{
	u32 seen = READ_ONCE(waiters_end);

	while (seen < end && !try_cmpxchg_relaxed(&waiters_end, &seen, end))
		;
}

/* An entry for this thread; NULL: all are in use. */
static struct lw_debug_waiter *claim(void)
{
	u64 key = key_of(lw_debug_tid()), seen;
	u32 i;

	for (i = 0; i < WAITERS; i++) {
		seen = READ_ONCE(waiters[i].thread);
		/* Free, or of a thread that a fork has left behind. */
		if (seen == CLAIMED || (seen && seen >> 32 == key >> 32) ||
		    !try_cmpxchg_relaxed(&waiters[i].thread, &seen, CLAIMED))
			continue;
		WRITE_ONCE(waiters[i].mutex, NULL);
		smp_store_release(&waiters[i].thread, key);
		raise_end(i + 1);
		return &waiters[i];
	}
	return NULL;
}

/* -- the chain ----------------------------------------------------------- */

/*
 * The holder of @m, for which another thread waited when we looked. It may be freed
 * by now, and not even be mapped: so the kernel reads it, where a sandbox lets it.
 */
static u32 holder_of(const struct lk_mutex *m)
{
	u32 hint;
	struct iovec to = { &hint, sizeof(hint) };
	struct iovec from = { (void *)(uintptr_t)&m->owner, sizeof(hint) };
	int saved = errno, error;
	ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	error = errno;
	errno = saved;
	if (got == (ssize_t)sizeof(hint))
		return lw_debug_holder(hint);
	return error == EFAULT ? 0 : lw_debug_owner(m);
}

/* What the holder of @m waits for, or NULL. */
static struct lw_debug_waiter *next_in_chain(const struct lk_mutex *m)
{
	u32 holder = holder_of(m);

	return holder ? find(holder) : NULL;
}

/* What @at waits for, or NULL; adds to @seen which of its waits this is. */
static struct lk_mutex *read_wait(const struct lw_debug_waiter *at, u64 *seen)
{
	u32 turn = smp_load_acquire(&at->turn);
	struct lk_mutex *m = smp_load_acquire(&at->mutex);

	if (turn & 1 || READ_ONCE(at->turn) != turn)
		return NULL;
	*seen ^= (u64)(at - waiters) << 32 | turn;
	*seen = (*seen ^ *seen >> 29) * 0x9e3779b97f4a7c15ull;
	return m;
}

/* One look at the chain that begins with @own. */
struct look {
	u32 length; /* its threads, if it comes back to @own, or 0 */
	u64 seen;   /* a hash of their waits, in order */
};

static struct look follow(struct lw_debug_waiter *own)
{
	struct lw_debug_waiter *at = own;
	struct look look = { 0, 0 };
	u32 n, most = READ_ONCE(waiters_end);

	for (n = 1; n <= most; n++) {
		struct lk_mutex *m = read_wait(at, &look.seen);

		at = m ? next_in_chain(m) : NULL;
		if (!at)
			break;
		if (at == own) {
			look.length = n;
			break;
		}
	}
	return look; /* 0: it ends, or others are in a circle */
}

static void print_site(const void *site)
{
	const char *name;
	Dl_info in;

	if (!site) {
		fprintf(stderr, "a place that is not known");
		return;
	}
	if (!dladdr(site, &in) || !in.dli_fname) {
		fprintf(stderr, "%p", site);
		return;
	}
	name = strrchr(in.dli_fname, '/');
	fprintf(stderr, "%s+0x%lx", name ? name + 1 : in.dli_fname,
		(unsigned long)((uintptr_t)site - (uintptr_t)in.dli_fbase));
}

static __cold void report(struct lw_debug_waiter *own, u32 length)
{
	static u32 reported;
	struct lw_debug_waiter *at = own;
	u32 none = 0, i;

	/* Two threads may have seen it; the one that reports ends the process. */
	if (!try_cmpxchg_relaxed(&reported, &none, 1))
		return;
	fprintf(stderr, "lockwork: deadlock of %u threads\n", length);
	for (i = 0; i < length && at; i++) {
		struct lk_mutex *m = READ_ONCE(at->mutex);

		if (!m)
			break;
		fprintf(stderr, "  thread %u waits for mutex %p at ",
			(u32)READ_ONCE(at->thread), (void *)m);
		print_site(READ_ONCE(at->site));
		fprintf(stderr, "; thread %u holds it, locked at ",
			holder_of(m));
		print_site(lw_debug_site(m));
		fprintf(stderr, "\n");
		at = next_in_chain(m);
	}
	abort();
}

/* Whether the wait that @own tells of can never end. */
static void check(struct lw_debug_waiter *own)
{
	struct look first, second;

	/* Either we see the others' entries, or they see ours. */
	smp_mb();
	first = follow(own);
	if (!first.length)
		return;
	second = follow(own);
	if (second.length == first.length && second.seen == first.seen)
		report(own, first.length);
}

/*
 * The turn is odd while the entry changes. It never goes back, also if a handler that
 * waits interrupts this.
 */
static void enter(struct lw_debug_waiter *own, struct lk_mutex *m,
		  const void *site)
{
	WRITE_ONCE(own->turn, READ_ONCE(own->turn) | 1);
	smp_wmb();
	WRITE_ONCE(own->site, site);
	WRITE_ONCE(own->mutex, m);
	smp_store_release(&own->turn, (READ_ONCE(own->turn) | 1) + 1);
}

__cold void lw_debug_wait_begin(struct lw_debug_wait *wait, struct lk_mutex *m,
				const void *site)
{
	wait->own = find(lw_debug_tid());
	wait->claimed = !wait->own;
	if (wait->claimed)
		wait->own = claim();
	if (!wait->own)
		return;
	wait->outer = *wait->own;
	enter(wait->own, m, site);
	check(wait->own);
}

__cold void lw_debug_wait_end(struct lw_debug_wait *wait)
{
	if (!wait->own)
		return;
	enter(wait->own, wait->outer.mutex, wait->outer.site);
	if (wait->claimed)
		smp_store_release(&wait->own->thread, 0);
	else
		check(wait->own); /* others may have missed what is back */
}
