// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The environment and standard error, for slow paths: no call takes a lock. */
#include "internal.h"
#include "once.h"
#include "stderr.h"
#include "user.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

extern char **environ;

/* Entries of the environment one after the other, then an empty one. */
static const char *kept;
static struct lkp_once keeping;
static struct lkp_stderr error_output;

static char *room_for(size_t bytes)
{
	static char enough[1024]; /* as a rule */
	long p = (long)enough;

	if (bytes > sizeof(enough))
		p = lkp_syscall(SYS_mmap, 0, (long)bytes,
				PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p < 0 && p >= -4095 ? NULL : (char *)p;
}

static bool is_ours(const char *entry)
{
	return !strncmp(entry, "LOCKWORK_", sizeof("LOCKWORK_") - 1);
}

/*
 * Copies what is for us, so that no lock reads the environment later: the program may be
 * in setenv() then, may clear it, or may write another text over it. What runs before
 * this, in a constructor of another library, reads the environment as it is.
 */
__attribute__((constructor(101))) static void keep(void)
{
	size_t bytes = 1;
	char *text, *end;

	for (char **e = environ; e && *e; e++) {
		if (is_ours(*e))
			bytes += strlen(*e) + 1;
	}
	text = end = room_for(bytes);
	if (!text)
		return;
	/* If this is a plugin, others may have changed it since. */
	for (char **e = environ; e && *e; e++) {
		if (is_ours(*e) &&
		    strlen(*e) + 1 < bytes - (size_t)(end - text))
			end = stpcpy(end, *e) + 1;
	}
	*end = '\0';
	kept = text;
	lkp_once_done(&keeping);
}

void lkp_keep_stderr(void)
{
	lkp_stderr_note(&error_output);
}

static const char *value_of(const char *entry, const char *name, size_t len)
{
	bool is_it = !strncmp(entry, name, len) && entry[len] == '=';

	return is_it ? entry + len + 1 : NULL;
}

const char *lkp_env(const char *name)
{
	const char *value = NULL;
	size_t len = strlen(name);

	if (lkp_once_is_done(&keeping)) {
		for (const char *entry = kept; *entry && !value;
		     entry += strlen(entry) + 1)
			value = value_of(entry, name, len);
		return value;
	}
	for (char **e = environ; e && *e && !value; e++)
		value = value_of(*e, name, len);
	return value;
}

static bool say(const char *text)
{
	return lkp_stderr_is_for_messages(&error_output) &&
	       lkp_syscall(SYS_write, 2, (long)text, (long)strlen(text), 0, 0,
			   0) >= 0;
}

void lkp_say(const char *text)
{
	(void)(say("lockwork: ") && say(text) && say("\n"));
}

__cold void lkp_no_tid(void)
{
	lkp_say("the kernel refuses gettid, so threads have no id: allow it in "
		"the seccomp filter of the program");
	abort();
}

void lkp_ignored(const char *what, const char *value, const char *why)
{
	(void)(say("lockwork: ignored ") && say(what) && say("=") &&
	       say(value) && say("; ") && say(why) && say("\n"));
}
