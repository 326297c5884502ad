// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Finds the next definitions. Another library may have no versions, and glibc's
 * condition variables need one. A look-up with a version passes over a library that has
 * none, so both look-ups are made, and the nearer library's definition is taken.
 */
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <string.h>

void *rec_nexts[REC_NEXT_COUNT] __attribute__((aligned(64)));

static const struct {
	const char *name, *version;
} wanted[REC_NEXT_COUNT] = {
#define X(name, version) { #name, version },
	REC_NEXTS(X)
#undef X
};

/*
 * glibc's own under second names that the dynamic linker binds: an allocator that locks
 * inside of dlsym() calls these before the others are known.
 */
#define SECOND_NAME(name)                                       \
	__asm__(".symver __pthread_" #name ", __pthread_" #name \
		"@GLIBC_2.2.5");                                \
	extern __typeof__(pthread_##name) __pthread_##name

SECOND_NAME(mutex_init);
SECOND_NAME(mutex_destroy);
SECOND_NAME(mutex_lock);
SECOND_NAME(mutex_trylock);
SECOND_NAME(mutex_unlock);
SECOND_NAME(rwlock_rdlock);
SECOND_NAME(rwlock_wrlock);
SECOND_NAME(rwlock_unlock);

static void *bound(enum rec_next which)
{
	switch (which) {
	case REC_NEXT_pthread_mutex_init:
		return (void *)__pthread_mutex_init;
	case REC_NEXT_pthread_mutex_destroy:
		return (void *)__pthread_mutex_destroy;
	case REC_NEXT_pthread_mutex_lock:
		return (void *)__pthread_mutex_lock;
	case REC_NEXT_pthread_mutex_trylock:
		return (void *)__pthread_mutex_trylock;
	case REC_NEXT_pthread_mutex_unlock:
		return (void *)__pthread_mutex_unlock;
	case REC_NEXT_pthread_rwlock_rdlock:
		return (void *)__pthread_rwlock_rdlock;
	case REC_NEXT_pthread_rwlock_wrlock:
		return (void *)__pthread_rwlock_wrlock;
	case REC_NEXT_pthread_rwlock_unlock:
		return (void *)__pthread_rwlock_unlock;
	default:
		return NULL;
	}
}

static int absent(void)
{
	return ENOSYS;
}

static const void *library_of(void *function)
{
	Dl_info info;

	return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

static void *look_up(void *where, const char *name, const char *version)
{
	void *nearest = dlsym(where, name);
	void *exact = version ? dlvsym(where, name, version) : NULL;

	if (exact && library_of(exact) == library_of(nearest))
		nearest = exact;
	return nearest;
}

/* A library in front of us that hands look-ups on finds our own; then libc's is taken. */
static void *find(const char *name, const char *version)
{
	void *found = look_up(RTLD_NEXT, name, version), *libc;

	if (found && library_of(found) == library_of((void *)rec_next_find)) {
		libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
		found = libc ? look_up(libc, name, version) : NULL;
	}
	return found ? found : (void *)absent;
}

void rec_next_find(void)
{
	static __thread bool finding;
	int saved = errno;

	if (finding || READ_ONCE(rec_nexts[REC_NEXT_COUNT - 1]))
		return;
	finding = true;
	for (int i = 0; i < REC_NEXT_COUNT; i++)
		WRITE_ONCE(rec_nexts[i],
			   find(wanted[i].name, wanted[i].version));
	finding = false;
	errno = saved;
}

bool rec_policy_is_in_front(void)
{
	/* What only a policy's interposer has. */
	bool is = dlsym(RTLD_DEFAULT, "pre_read_at_once") &&
		  !dlsym(RTLD_NEXT, "pre_read_at_once");

	dlerror();
	return is;
}

void *rec_next(enum rec_next which)
{
	void *function = READ_ONCE(rec_nexts[which]);

	if (likely(function))
		return function;
	rec_next_find();
	function = READ_ONCE(rec_nexts[which]);
	if (!function)
		function = bound(which);
	return function ? function : (void *)absent;
}
