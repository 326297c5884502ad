// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* LOCKWORK_DEBUG: the holder of a mutex, and where it locked it; misuse. */
#include "debug.h"
#include "internal.h"
#include "waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lwlib_debug;

__attribute__((constructor)) static void init_debug(void)
{
	const char *value = getenv("LOCKWORK_DEBUG");

	lwlib_debug = value && *value && strcmp(value, "0");
}

/* This thread's id, or what it was before it forked: it holds what it held. */
u32 lwlib_debug_tid(void)
{
	static __thread u32 tid __attribute__((tls_model("initial-exec")));

	if (!tid)
		tid = lkp_tid();
	return tid;
}

u32 lwlib_debug_owner(const struct lk_mutex *m)
{
	return lwlib_debug_holder(READ_ONCE(m->owner));
}

static bool is_held(const struct lk_mutex *m)
{
	return READ_ONCE(m->word) != LK_MUTEX_FREE;
}

/* -- misuse -------------------------------------------------------------- */

static __cold void misused(const struct lk_mutex *m, const char *what)
{
	if (is_held(m))
		fprintf(stderr,
			"lockwork: mutex %p: %s (thread %u); held by thread "
			"%u\n",
			(const void *)m, what, lwlib_debug_tid(),
			lwlib_debug_owner(m));
	else
		fprintf(stderr,
			"lockwork: mutex %p: %s (thread %u); nobody holds it\n",
			(const void *)m, what, lwlib_debug_tid());
	abort();
}

__cold void lwlib_debug_locked(struct lk_mutex *m, const void *site)
{
	lkp_site_note(m, site);
	WRITE_ONCE(m->owner, lwlib_debug_tid() | 1u << 31);
}

bool lwlib_debug_seems_mine(const struct lk_mutex *m)
{
	return is_held(m) && lwlib_debug_owner(m) == lwlib_debug_tid();
}

__cold void lwlib_debug_check_lock(const struct lk_mutex *m)
{
	if (lwlib_debug_seems_mine(m))
		misused(m, "locked again by its holder");
}

__cold void lwlib_debug_check_unlock(struct lk_mutex *m)
{
	u32 owner = lwlib_debug_owner(m);

	if (!is_held(m) || (owner && owner != lwlib_debug_tid()))
		misused(m, "unlocked by a thread that does not hold it");
	WRITE_ONCE(m->owner, 1u << 31);
}

__cold void lwlib_debug_check_destroy(const struct lk_mutex *m)
{
	if (is_held(m))
		misused(m, "destroyed while held");
}
