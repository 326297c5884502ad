// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A process that executes another program does not end, and its file says nothing of that. The
 * new program's recorder notes it there, whether the new program uses a lock or not.
 */
#define _GNU_SOURCE
#include "state.h"
#include "system.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In /proc/self/stat: after the name, which is in brackets and may have any bytes. */
#define WORDS_BEFORE 20

u64 rec_born(void)
{
	char text[512];
	int fd = sys_open("/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = fd >= 0 ? sys_read(fd, text, sizeof(text) - 1) : -1;
	const char *at;

	if (fd >= 0)
		sys_close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	at = strrchr(text, ')');
	for (u32 i = 0; at && i < WORDS_BEFORE; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/* False: it cannot be opened. If this process wrote it, another program did. */
static bool note(const char *path, u64 pid, u64 born)
{
	/* What is no file is not waited for. */
	int fd = sys_open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0);
	struct rec_file head;
	u64 now = rec_ticks();

	if (fd < 0)
		return false;
	if (sys_pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
	    head.magic == REC_MAGIC && head.version == REC_VERSION &&
	    head.pid == pid && head.born == born && !head.ended &&
	    !head.replaced)
		sys_pwrite(fd, &now, sizeof(now),
			   offsetof(struct rec_file, replaced));
	sys_close(fd);
	return true;
}

void rec_exec_note(void)
{
	int pid = sys_getpid();
	u64 born = rec_born();
	char path[4000];

	if (!born)
		return;
	note(rec_path, (u64)pid, born);
	for (int n = 1; n < REC_MOST_FILES; n++) {
		rec_file_name(path, sizeof(path), pid, n);
		if (!note(path, (u64)pid, born))
			break;
	}
}
