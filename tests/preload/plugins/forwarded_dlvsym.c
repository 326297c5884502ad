/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hands each look-up on, as libraries do that watch which functions a program finds. The
 * linker takes this library for the one that asks, so RTLD_NEXT begins behind it.
 */
#define PLUGIN
#include "expect.h"

int forwarded_calls(void);

static atomic_int calls;

int forwarded_calls(void)
{
	return calls;
}

void *dlvsym(void *restrict handle, const char *restrict name,
	     const char *restrict version)
{
	void *(*next)(void *, const char *, const char *) =
		dlsym(RTLD_NEXT, "dlvsym");
	void *found;

	EXPECT(next);
	found = next(handle, name, version);
	/* After the call, which so is none that returns to our caller. */
	calls++;
	return found;
}
