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
 * An operation that is inlined elsewhere (Rust) does not name the holder: a chain ends
 * at a mutex that it has locked.
 *
 * A wait with a limit ends by itself: it is not entered, and no chain goes on
 * through it. One case is reported though it may end: a thread's wait is interrupted
 * by a signal handler that holds a mutex, and the circle goes through both.
 */
#define _GNU_SOURCE
#include "debug.h"
#include "internal.h"
#include "once.h"
#include "waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

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
		return lwlib_debug_holder(hint);
	return error == EFAULT ? 0 : lwlib_debug_owner(m);
}

/* What the holder of @m waits for, or NULL. */
static struct lkp_wait *next_in_chain(const struct lk_mutex *m)
{
	u32 holder = holder_of(m);

	return holder ? lkp_wait_find(holder) : NULL;
}

/* What @at waits for, or NULL; adds to @seen which of its waits this is. */
static const struct lk_mutex *read_wait(const struct lkp_wait *at, u64 *seen)
{
	u64 which = 0;
	const struct lk_mutex *m = lkp_wait_read(at, &which);

	*seen ^= which;
	*seen = (*seen ^ *seen >> 29) * 0x9e3779b97f4a7c15ull;
	return m;
}

/* One look at the chain that begins with @own. */
struct look {
	u32 length; /* its threads, if it comes back to @own, or 0 */
	u64 seen;   /* a hash of their waits, in order */
};

static struct look follow(struct lkp_wait *own)
{
	struct lkp_wait *at = own;
	struct look look = { 0, 0 };
	u32 n, most = lkp_wait_count();

	for (n = 1; n <= most; n++) {
		const struct lk_mutex *m = read_wait(at, &look.seen);

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

static __cold void report(struct lkp_wait *own, u32 length)
{
	static struct lkp_once reported;
	struct lkp_wait *at = own;
	u32 i;

	/* Two threads may have seen it; the one that reports ends the process. */
	if (!lkp_once_begin(&reported))
		return;
	fprintf(stderr, "lockwork: deadlock of %u threads\n", length);
	for (i = 0; i < length && at; i++) {
		const struct lk_mutex *m = READ_ONCE(at->object);

		if (!m)
			break;
		fprintf(stderr, "  thread %u waits for mutex %p at ",
			(u32)READ_ONCE(at->thread), (const void *)m);
		print_site(READ_ONCE(at->site));
		fprintf(stderr, "; thread %u holds it, locked at ",
			holder_of(m));
		print_site(lkp_site_of(m));
		fprintf(stderr, "\n");
		at = next_in_chain(m);
	}
	abort();
}

/* Whether the wait that @own tells of can never end. */
static void check(struct lkp_wait *own)
{
	struct look first, second;

	first = follow(own);
	if (!first.length)
		return;
	second = follow(own);
	if (second.length == first.length && second.seen == first.seen)
		report(own, first.length);
}

__cold void lwlib_debug_wait_begin(struct lwlib_debug_wait *wait,
				   struct lk_mutex *m, const void *site)
{
	wait->own = lkp_wait_find(lwlib_debug_tid());
	wait->claimed = !wait->own;
	if (wait->claimed)
		wait->own = lkp_wait_claim(lwlib_debug_tid());
	if (!wait->own)
		return;
	/* Another thread may have written them, when the entry was its own. */
	wait->object = READ_ONCE(wait->own->object);
	wait->site = READ_ONCE(wait->own->site);
	lkp_wait_set(wait->own, m, site);
	check(wait->own);
}

__cold void lwlib_debug_wait_end(struct lwlib_debug_wait *wait)
{
	if (!wait->own)
		return;
	lkp_wait_set(wait->own, wait->object, wait->site);
	if (wait->claimed)
		lkp_wait_release(wait->own);
	else
		check(wait->own); /* others may have missed what is back */
}
