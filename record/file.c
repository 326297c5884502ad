// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The file of this process, LOCKWORK_RECORD=FILE: the first process makes FILE, each
 * other one FILE.PID. Space is reserved before it is used, so that a full disk costs
 * records and never a SIGBUS.
 */
#define _GNU_SOURCE
#include "state.h"
#include "system.h"

#include <stdio.h>

struct rec_file *rec_file;
char rec_path[3800], rec_own_path[4000];

void rec_file_name(char *to, size_t size, int pid, int n)
{
	snprintf(to, size, n > 1 ? "%s.%d.%d" : "%s.%d", rec_path, pid, n);
}

/* The first process has the plain name; so has no later one, nor a child. */
int rec_file_create(void)
{
	int fd = -1;

	snprintf(rec_own_path, sizeof(rec_own_path), "%s", rec_path);
	for (int n = 1; n < REC_MOST_FILES; n++) {
		fd = sys_open(rec_own_path,
			      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
		rec_file_name(rec_own_path, sizeof(rec_own_path), sys_getpid(),
			      n);
	}
	return fd;
}

/* A number that programs do not close by habit, if there is one. */
int rec_file_out_of_the_way(int fd)
{
	int high = sys_dup_above(fd, 500);

	if (high >= 0)
		sys_close(fd);
	return high >= 0 ? high : fd;
}

/* A forked child finds rec_state cleared, and this as it was. */
static struct {
	int fd;
	dev_t device;
	ino_t inode;
} kept = { .fd = -1 };

void rec_file_keep(const struct stat *facts)
{
	kept.fd = rec_state.fd;
	kept.device = rec_state.device = facts->st_dev;
	kept.inode = rec_state.inode = facts->st_ino;
}

void rec_file_close_parents(void)
{
	struct stat now;

	/* The program may have given its number to another file. */
	if (kept.fd >= 0 && !sys_fstat(kept.fd, &now) &&
	    now.st_dev == kept.device && now.st_ino == kept.inode)
		sys_close(kept.fd);
	kept.fd = -1;
}

/* The program may have closed the descriptor, or given its number to another file. */
static bool still_ours(void)
{
	struct stat now;

	if (!sys_fstat(rec_state.fd, &now) && now.st_dev == rec_state.device &&
	    now.st_ino == rec_state.inode)
		return true;
	rec_state.fd = sys_open(rec_own_path, O_RDWR | O_CLOEXEC, 0);
	if (rec_state.fd < 0)
		return false;
	rec_state.fd = rec_file_out_of_the_way(rec_state.fd);
	if (sys_fstat(rec_state.fd, &now) || now.st_dev != rec_state.device ||
	    now.st_ino != rec_state.inode)
		return false;
	rec_file_keep(&now);
	return true;
}

/* Past this the kernel would send a signal that ends the program. */
static bool is_within_limit(u64 bytes)
{
	return bytes <= sys_limit(RLIMIT_FSIZE);
}

/* Some filesystems cannot reserve; they are made to by zeros. */
bool rec_file_reserve(u64 from, u64 bytes)
{
	static const char zeros[REC_PAGE];
	ssize_t n;

	if (!is_within_limit(from + bytes)) {
		errno = EFBIG;
		return false;
	}
	if (!sys_fallocate(rec_state.fd, (off_t)from, (off_t)bytes))
		return true;
	if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
		return false;
	for (u64 at = from; at < from + bytes; at += (u64)n) {
		n = sys_pwrite(rec_state.fd, zeros, REC_PAGE, (off_t)at);
		if (n <= 0)
			return false;
	}
	return true;
}

/*
 * Set aside in steps of an eighth of the file: it takes system calls, with the lock. Where there is no
 * room for that there may be for one block.
 */
static bool has_space(u64 from, u32 bytes)
{
	u64 step = (from / 8 + REC_PAGE - 1) & ~(u64)(REC_PAGE - 1);

	if (from + bytes <= rec_state.reserved)
		return true;
	if (step > REC_CAPACITY - from)
		step = REC_CAPACITY - from;
	if (!still_ours())
		return false;
	if (step > bytes && rec_file_reserve(from, step))
		rec_state.reserved = from + step;
	else if (rec_file_reserve(from, bytes))
		rec_state.reserved = from + bytes;
	else
		return false;
	return true;
}

struct rec_block *rec_block(u32 kind, u32 bytes, u32 thread)
{
	struct rec_block *block;
	u64 at = rec_file->used;

	bytes = (bytes + REC_PAGE - 1) & ~(REC_PAGE - 1);
	if (at + bytes > REC_CAPACITY || !has_space(at, bytes))
		return NULL;
	block = (struct rec_block *)((char *)rec_file + at);
	*block = (struct rec_block){ .kind = kind,
				     .bytes = bytes,
				     .thread = thread };
	WRITE_ONCE(rec_file->used, at + bytes);
	rec_file_stamp();
	return block;
}

u64 rec_nanoseconds(clockid_t clock)
{
	struct timespec t = { 0 };

	/* The program may have a clock_gettime() that tells another time. */
	rec_sys(SYS_clock_gettime, clock, (long)&t, 0, 0);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

void rec_both_clocks(u64 *ticks, u64 *ns)
{
	u64 least = ~0ULL;

	for (int i = 0; i < 4 && least > 10000; i++) {
		u64 before = rec_ticks();
		u64 now = rec_nanoseconds(CLOCK_MONOTONIC);
		u64 apart = rec_ticks() - before;

		if (apart >= least)
			continue;
		least = apart;
		*ticks = before + apart / 2;
		*ns = now;
	}
}

void rec_file_stamp(void)
{
	u64 ticks = 0, ns = 0;

	rec_both_clocks(&ticks, &ns);
	WRITE_ONCE(rec_file->last_ticks, ticks);
	WRITE_ONCE(rec_file->last_ns, ns);
}
