/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_STDERR_H
#define LKP_STDERR_H

/*
 * Whether descriptor 2 may be written to. A daemon closes its first three descriptors, and
 * then opens its own files, which get these numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Zero: nobody noted what it was, so it is taken for what it should be. */
struct lkp_stderr {
	dev_t device;
	ino_t inode;
	bool is_known, was_open;
};

/* When the process begins. Descriptor 2 may be closed; errno is left alone. */
static inline void lkp_stderr_note(struct lkp_stderr *e)
{
	struct stat now;
	int saved = errno;

	e->was_open = !fstat(2, &now);
	if (e->was_open) {
		e->device = now.st_dev;
		e->inode = now.st_ino;
	}
	errno = saved;
	e->is_known = true;
}

/*
 * The same file, a terminal or the like, a pipe, or a file that is only appended to, as
 * logs are.
 */
static inline bool lkp_stderr_is_for_messages(const struct lkp_stderr *e)
{
	struct stat now;
	int saved = errno;
	bool is_open = !fstat(2, &now);

	errno = saved;
	if (!e->is_known || !is_open)
		return is_open;
	if (e->was_open && now.st_dev == e->device && now.st_ino == e->inode)
		return true;
	return S_ISCHR(now.st_mode) || S_ISFIFO(now.st_mode) ||
	       (S_ISREG(now.st_mode) && (fcntl(2, F_GETFL) & O_APPEND));
}

#endif
