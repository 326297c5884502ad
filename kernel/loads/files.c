// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Loads of file systems. Those named as in FxMark do what its paper says of them (Min
 * et al., "Understanding Manycore Scalability of File Systems", USENIX ATC 2016, table
 * 1). copy is as UnixBench's file copy with a buffer of 1024 bytes; xattr makes the
 * mbcache look for equal blocks of attributes.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "load.h"

#define BLOCK 4096
#define LARGE (1 << 20) /* bytes that a private file may have */

static char block[BLOCK];

static int create(const char *path)
{
	return (int)MUST(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

/* One file for all, with a block for each. */
static void shared_file(struct worker *w)
{
	char name[NAME_SIZE];

	w->fd = create(path_of(name, w, "shared", 0));
	MUST(pwrite(w->fd, block, BLOCK, (off_t)w->id * BLOCK));
	MUST(pwrite(w->fd, block, BLOCK, 0));
}

static void private_file(struct worker *w)
{
	char name[NAME_SIZE];

	w->fd = create(path_of(name, w, "private", w->id));
	MUST(pwrite(w->fd, block, BLOCK, 0));
}

static void read_same(struct worker *w)
{
	char mine[BLOCK];

	MUST(pread(w->fd, mine, BLOCK, 0));
}

static void read_own(struct worker *w)
{
	char mine[BLOCK];

	MUST(pread(w->fd, mine, BLOCK, (off_t)w->id * BLOCK));
}

static void write_own(struct worker *w)
{
	MUST(pwrite(w->fd, block, BLOCK, (off_t)w->id * BLOCK));
}

static void append(struct worker *w)
{
	off_t at = (off_t)(w->done * BLOCK % LARGE);

	if (!at)
		MUST(ftruncate(w->fd, 0));
	MUST(pwrite(w->fd, block, BLOCK, at));
}

static void open_own(struct worker *w)
{
	char name[NAME_SIZE];

	path_of(name, w, "private", w->id);
	MUST(close((int)MUST(open(name, O_RDONLY | O_CLOEXEC))));
}

static void read_folder(struct worker *w)
{
	DIR *dir = opendir(w->dir);

	if (!dir)
		fail("opendir");
	while (readdir(dir))
		;
	closedir(dir);
}

/* Created files go again, so that the folder does not grow for ever. */
static void create_and_unlink(struct worker *w)
{
	char name[NAME_SIZE];

	path_of(name, w, "new", w->id);
	MUST(close(create(name)));
	MUST(unlink(name));
}

static void own_folder(struct worker *w)
{
	char name[NAME_SIZE];

	MUST(mkdir(path_of(name, w, "folder", w->id), 0700));
	strcat(name, "/file");
	MUST(close(create(name)));
}

/* Out of the own folder into the shared one, and back. */
static void rename_shared(struct worker *w)
{
	char own[NAME_SIZE], shared[NAME_SIZE];

	path_of(own, w, "folder", w->id);
	strcat(own, "/file");
	path_of(shared, w, "moved", w->id);
	if (w->done % 2)
		MUST(rename(shared, own));
	else
		MUST(rename(own, shared));
}

static void two_files(struct worker *w)
{
	char name[NAME_SIZE];

	w->fd = create(path_of(name, w, "from", w->id));
	w->other = create(path_of(name, w, "to", w->id));
	MUST(pwrite(w->fd, block, BLOCK, 0));
}

static void copy(struct worker *w)
{
	off_t at = (off_t)(w->done * 1024 % LARGE);
	char mine[1024];

	MUST(pread(w->fd, mine, sizeof(mine), at % BLOCK));
	MUST(pwrite(w->other, mine, sizeof(mine), at));
}

static void attributes(struct worker *w)
{
	char value[200];

	/* Few values, so that many files have equal ones. */
	memset(value, 'a' + (char)(next_random(w) % 8), sizeof(value));
	MUST(fsetxattr(w->fd, "user.lockwork", value, sizeof(value), 0));
}

const struct load file_loads[] = {
	{ "drbh", "FxMark DRBH: all read the same block of one file", false,
	  NULL, shared_file, read_same },
	{ "drbm", "FxMark DRBM: each reads its block of one file", false, NULL,
	  shared_file, read_own },
	{ "dwom", "FxMark DWOM: each overwrites its block of one file", false,
	  NULL, shared_file, write_own },
	{ "dwal", "FxMark DWAL: each appends to its own file", false, NULL,
	  private_file, append },
	{ "mrpm", "FxMark MRPM: each opens its file in one folder", false, NULL,
	  private_file, open_own },
	{ "mrdm", "FxMark MRDM: all read one folder", false, NULL, private_file,
	  read_folder },
	{ "mwcm", "FxMark MWCM, MWUM: create and unlink in one folder", false,
	  NULL, NULL, create_and_unlink },
	{ "mwrm", "FxMark MWRM: move a file into one folder, and back", false,
	  NULL, own_folder, rename_shared },
	{ "copy", "UnixBench: copy a file by 1024 bytes", true, NULL, two_files,
	  copy },
	{ "xattr", "set equal attributes of own files (mbcache)", false, NULL,
	  private_file, attributes },
	{ 0 },
};
