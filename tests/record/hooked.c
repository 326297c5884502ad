// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A library to preload whose functions for system calls lock a mutex, as those do that pretend to be
 * a network or another file system. The recorder must call none of them: a thread that holds
 * the mutex may wait for the recorder.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void enter(void *caller)
{
	Dl_info where;

	if (dladdr(caller, &where) && where.dli_fname &&
	    strstr(where.dli_fname, "liblockwork-record"))
		abort();
	pthread_mutex_lock(&mutex);
}

#define HOOK(result, name, types, arguments)                      \
	result name types                                         \
	{                                                         \
		result(*next) types =                             \
			(result(*) types)dlsym(RTLD_NEXT, #name); \
		result value;                                     \
                                                                  \
		enter(__builtin_return_address(0));               \
		value = next arguments;                           \
		pthread_mutex_unlock(&mutex);                     \
		return value;                                     \
	}

HOOK(int, open, (const char *path, int flags, ...), (path, flags, 0666))
HOOK(int, close, (int fd), (fd))
HOOK(int, access, (const char *path, int mode), (path, mode))
HOOK(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
HOOK(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n))
HOOK(void *, mmap,
     (void *at, size_t n, int protection, int flags, int fd, off_t from),
     (at, n, protection, flags, fd, from))
HOOK(int, munmap, (void *at, size_t n), (at, n))
HOOK(int, madvise, (void *at, size_t n, int advice), (at, n, advice))
HOOK(int, fallocate, (int fd, int mode, off_t from, off_t n),
     (fd, mode, from, n))
HOOK(int, getrusage, (__rusage_who_t who, struct rusage *to), (who, to))
