// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * glibc's functions for the objects that stay glibc's. A condvar has an older
 * twin under the same name, hence the versions: plain dlsym may find that one.
 */
#define _GNU_SOURCE
#include "preload.h"

#include "once.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *find(const char *name, const char *version)
{
	void *found = dlvsym(RTLD_NEXT, name, version);

	if (!found)
		found = dlsym(RTLD_NEXT, name);
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
