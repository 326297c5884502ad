// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A library to preload, whose open() locks a mutex, as those do that pretend to be a network. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>

typedef int open_fn(const char *path, int flags, ...);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int open(const char *path, int flags, ...)
{
	open_fn *next = (open_fn *)dlsym(RTLD_NEXT, "open");
	va_list more;
	int mode, fd;

	va_start(more, flags);
	mode = va_arg(more, int);
	va_end(more);
	pthread_mutex_lock(&mutex);
	fd = next(path, flags, mode);
	pthread_mutex_unlock(&mutex);
	return fd;
}
