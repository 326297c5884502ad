/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_SYSTEM_H
#define REC_SYSTEM_H

/*
 * The recorder's system calls, made by itself: another library may have replaced open() and the
 * like by functions that lock a mutex, fork or translate paths. Results and errno are those of the
 * functions of these names.
 */
#include "atomic.h"
#include "syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static inline long rec_sys6(long nr, long a, long b, long c, long d, long e,
			    long f)
{
	long result = host_syscall(nr, a, b, c, d, e, f);

	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

static inline long rec_sys(long nr, long a, long b, long c, long d)
{
	return rec_sys6(nr, a, b, c, d, 0, 0);
}

static inline int sys_open(const char *path, int flags, int mode)
{
	return (int)rec_sys(SYS_openat, AT_FDCWD, (long)path, flags, mode);
}

static inline int sys_close(int fd)
{
	return (int)rec_sys(SYS_close, fd, 0, 0, 0);
}

static inline int sys_access(const char *path)
{
	return (int)rec_sys(SYS_access, (long)path, 0, 0, 0);
}

static inline ssize_t sys_read(int fd, void *to, size_t bytes)
{
	return rec_sys(SYS_read, fd, (long)to, (long)bytes, 0);
}

static inline ssize_t sys_write(int fd, const void *from, size_t bytes)
{
	return rec_sys(SYS_write, fd, (long)from, (long)bytes, 0);
}

static inline ssize_t sys_pread(int fd, void *to, size_t bytes, off_t at)
{
	return rec_sys(SYS_pread64, fd, (long)to, (long)bytes, at);
}

static inline ssize_t sys_pwrite(int fd, const void *from, size_t bytes,
				 off_t at)
{
	return rec_sys(SYS_pwrite64, fd, (long)from, (long)bytes, at);
}

/* A copy of @fd with a number from @least on. */
static inline int sys_dup_above(int fd, int least)
{
	return (int)rec_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least, 0);
}

static inline int sys_fstat(int fd, struct stat *to)
{
	return (int)rec_sys(SYS_fstat, fd, (long)to, 0, 0);
}

static inline int sys_fallocate(int fd, off_t from, off_t bytes)
{
	return (int)rec_sys(SYS_fallocate, fd, 0, from, bytes);
}

/* MAP_FAILED: it failed. */
static inline void *sys_mmap(size_t bytes, int flags, int fd)
{
	return (void *)rec_sys6(SYS_mmap, 0, (long)bytes,
				PROT_READ | PROT_WRITE, flags, fd, 0);
}

static inline int sys_munmap(void *from, size_t bytes)
{
	return (int)rec_sys(SYS_munmap, (long)from, (long)bytes, 0, 0);
}

static inline int sys_madvise(void *from, size_t bytes, int advice)
{
	return (int)rec_sys(SYS_madvise, (long)from, (long)bytes, advice, 0);
}

static inline int sys_getrusage(int who, struct rusage *to)
{
	return (int)rec_sys(SYS_getrusage, who, (long)to, 0, 0);
}

/* The soft limit; none if it is not known. */
static inline u64 sys_limit(int of)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };

	rec_sys(SYS_prlimit64, 0, of, 0, (long)&limit);
	return limit.rlim_cur;
}

static inline int sys_getpid(void)
{
	return (int)rec_sys(SYS_getpid, 0, 0, 0, 0);
}

/* Copies @bytes of process @pid. */
static inline ssize_t sys_copy(int pid, void *to, u64 from, size_t bytes)
{
	struct iovec here = { .iov_base = to, .iov_len = bytes };
	struct iovec there = { .iov_base = (void *)from, .iov_len = bytes };

	return rec_sys6(SYS_process_vm_readv, pid, (long)&here, 1, (long)&there,
			1, 0);
}

#endif
