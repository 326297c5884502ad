// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* LOCKWORK_DEBUG: who holds a mutex, and since where; misuse by one thread. */
#include "debug.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lw_debug;

__attribute__((constructor)) static void init_debug(void)
{
	const char *value = getenv("LOCKWORK_DEBUG");

	lw_debug = value && *value && strcmp(value, "0");
}

/* This thread's id, or what it was before it forked: it holds what it held. */
u32 lw_debug_tid(void)
{
	static __thread u32 tid __attribute__((tls_model("initial-exec")));

	if (!tid)
		tid = lw_tid();
	return tid;
}

u32 lw_debug_owner(const struct lk_mutex *m)
{
	return lw_debug_holder(READ_ONCE(m->owner));
}

static bool is_held(const struct lk_mutex *m)
{
	return READ_ONCE(m->word) != LK_MUTEX_FREE;
}

/* -- where a mutex was locked -------------------------------------------- */

#define SITES 4096u /* a power of two */

/* The last of those mutexes that share the entry. */
static struct {
	const struct lk_mutex *mutex;
	const void *site;
} sites[SITES];

/* An entry that somebody is writing. */
#define BUSY ((const struct lk_mutex *)1)

static u32 site_index(const struct lk_mutex *m)
{
	return (u32)((u64)(uintptr_t)m * 0x9e3779b97f4a7c15ull >> 32) % SITES;
}

/* While another one writes the entry, it stays that one's. */
static void note_site(const struct lk_mutex *m, const void *site)
{
	u32 i = site_index(m);
	const struct lk_mutex *seen = READ_ONCE(sites[i].mutex);

	if (seen == BUSY || !try_cmpxchg_acquire(&sites[i].mutex, &seen, BUSY))
		return;
	WRITE_ONCE(sites[i].site, site);
	smp_store_release(&sites[i].mutex, m);
}

/* Where @m, which is held, was locked; NULL: not known. */
const void *lw_debug_site(const struct lk_mutex *m)
{
	u32 i = site_index(m);
	const void *site;

	if (smp_load_acquire(&sites[i].mutex) != m)
		return NULL;
	site = READ_ONCE(sites[i].site);
	return READ_ONCE(sites[i].mutex) == m ? site : NULL;
}

/* -- misuse -------------------------------------------------------------- */

static __cold void misused(const struct lk_mutex *m, const char *what)
{
	if (is_held(m))
		fprintf(stderr,
			"lockwork: mutex %p: %s (thread %u); held by thread "
			"%u\n",
			(const void *)m, what, lw_debug_tid(),
			lw_debug_owner(m));
	else
		fprintf(stderr,
			"lockwork: mutex %p: %s (thread %u); nobody holds it\n",
			(const void *)m, what, lw_debug_tid());
	abort();
}

__cold void lw_debug_locked(struct lk_mutex *m, const void *site)
{
	note_site(m, site);
	WRITE_ONCE(m->owner, lw_debug_tid() | 1u << 31);
}

__cold void lw_debug_check_lock(const struct lk_mutex *m)
{
	if (is_held(m) && lw_debug_owner(m) == lw_debug_tid())
		misused(m, "locked again by its holder");
}

__cold void lw_debug_check_unlock(struct lk_mutex *m)
{
	u32 owner = lw_debug_owner(m);

	if (!is_held(m) || (owner && owner != lw_debug_tid()))
		misused(m, "unlocked by a thread that does not hold it");
	WRITE_ONCE(m->owner, 1u << 31);
}

__cold void lw_debug_check_destroy(const struct lk_mutex *m)
{
	if (is_held(m))
		misused(m, "destroyed while held");
}
