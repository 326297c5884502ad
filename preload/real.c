// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * glibc's functions for the objects that stay glibc's. A condvar has an older
 * twin under the same name, hence the versions: plain dlsym may find that one.
 *
 * RTLD_NEXT begins behind the library that calls. If that is one in front of us which
 * hands dlvsym() on, we find our own function, which would call itself without end.
 */
#define _GNU_SOURCE
#include "own_code.h"
#include "preload.h"

#include "once.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *look_up(void *where, const char *name, const char *version)
{
	void *found = dlvsym(where, name, version);

	return found ? found : dlsym(where, name);
}

/* In the C library itself, whose handle needs no RTLD_NEXT. It stays loaded. */
static void *find_in_libc(const char *name, const char *version)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = libc ? look_up(libc, name, version) : NULL;

	return found && !is_own_code(found) ? found : NULL;
}

static void *find(const char *name, const char *version)
{
	void *found = look_up(RTLD_NEXT, name, version);

	if (found && is_own_code(found))
		found = find_in_libc(name, version);
	if (!found) {
		fprintf(stderr,
			"lockwork: this C library has no %s; run the program "
			"without Lockwork\n",
			name);
		abort();
	}
	return found;
}

const struct pre_reals *pre_reals(void)
{
	static struct pre_reals reals;
	static struct lkp_once looked_up;
	int saved = errno;

	if (!lkp_once_is_done(&looked_up)) {
#define X(name, version, ret, args) \
	WRITE_ONCE(reals.name,      \
		   (ret(*) args)find("pthread_" #name, "GLIBC_" version));
		PRE_REALS(X)
#undef X
		lkp_once_done(&looked_up);
	}
	errno = saved;
	return &reals;
}
