// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A process that is not recorded, and says so. */
#define _GNU_SOURCE
#include "state.h"
#include "stderr.h"
#include "system.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct lkp_stderr rec_error_output;

__cold bool rec_refuse(const char *why)
{
	char text[4400];
	int n = snprintf(text, sizeof(text),
			 "lockwork: %s; the locks of process %d are not "
			 "recorded\n",
			 why, sys_getpid());

	if (n > 0 && lkp_stderr_is_for_messages(&rec_error_output) &&
	    sys_write(STDERR_FILENO, text, (size_t)n) < 0)
		n = 0; /* nobody can be told */
	WRITE_ONCE(rec_off, 1);
	return false;
}

static __cold bool refuse_file(const char *what, int why, const char *hint)
{
	char text[4300];

	snprintf(text, sizeof(text), "cannot record into %s: %s: %s%s",
		 rec_own_path, what, strerror(why), hint);
	return rec_refuse(text);
}

__cold bool rec_refuse_file(const char *what, int why)
{
	return refuse_file(what, why, "");
}

/* A later process tries FILE first. Where that fails, FILE.PID would be its own name. */
__cold bool rec_refuse_uncreated(bool later, int why)
{
	if (later && !strcmp(rec_own_path, rec_path))
		rec_file_name(rec_own_path, sizeof(rec_own_path), sys_getpid(),
			      1);
	return refuse_file("it cannot be created", why,
			   " (put the recording into a folder that this "
			   "process can reach and write to, after a "
			   "chroot() as well)");
}
