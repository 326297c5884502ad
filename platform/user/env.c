// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The environment and standard error, for slow paths: no call takes a lock. */
#include "internal.h"
#include "user.h"

#include <string.h>
#include <sys/syscall.h>

extern char **environ;

const char *lw_env(const char *name)
{
	size_t len = strlen(name);

	for (char **e = environ; e && *e; e++) {
		if (!strncmp(*e, name, len) && (*e)[len] == '=')
			return *e + len + 1;
	}
	return NULL;
}

static bool say(const char *text)
{
	return lw_syscall(SYS_write, 2, (long)text, (long)strlen(text), 0, 0,
			  0) >= 0;
}

void lw_ignored(const char *what, const char *value, const char *why)
{
	(void)(say("lockwork: ignored ") && say(what) && say("=") &&
	       say(value) && say("; ") && say(why) && say("\n"));
}
