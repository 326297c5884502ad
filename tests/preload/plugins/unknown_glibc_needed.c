/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A C library that the interposer does not know. A process-shared mutex is not
 * told by its kind, and a spinlock has other values. It counts the calls for
 * mutexes.
 */
#define PLUGIN
#include "expect.h"

enum { FREE = 0xbeef, HELD = 0xdead };

int unknown_calls(void);
int __pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);

static atomic_int calls;

int unknown_calls(void)
{
	return calls;
}

static int spin_init(pthread_spinlock_t *s, int pshared)
{
	(void)pshared;
	__atomic_store_n(s, FREE, __ATOMIC_RELEASE);
	return 0;
}

static int spin_destroy(pthread_spinlock_t *s)
{
	return *s == FREE ? 0 : EBUSY;
}

static int spin_trylock(pthread_spinlock_t *s)
{
	int seen = FREE;

	return __atomic_compare_exchange_n(s, &seen, HELD, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED)
		       ? 0
		       : EBUSY;
}

static int spin_lock(pthread_spinlock_t *s)
{
	while (spin_trylock(s))
		sched_yield();
	return 0;
}

static int spin_unlock(pthread_spinlock_t *s)
{
	__atomic_store_n(s, FREE, __ATOMIC_RELEASE);
	return 0;
}

static int mutex_lock(pthread_mutex_t *m)
{
	int (*lock)(pthread_mutex_t *) =
		dlvsym(RTLD_NEXT, "__pthread_mutex_lock", "GLIBC_2.2.5");

	calls++;
	return lock(m);
}

/* How the interposer finds functions, and we the C library's own. */
void *dlvsym(void *restrict handle, const char *restrict name,
	     const char *restrict version)
{
	static const struct {
		const char *name;
		void *address;
	} ours[] = {
		{ "pthread_mutex_lock", mutex_lock },
		{ "pthread_spin_init", spin_init },
		{ "pthread_spin_destroy", spin_destroy },
		{ "pthread_spin_trylock", spin_trylock },
		{ "pthread_spin_lock", spin_lock },
		{ "pthread_spin_unlock", spin_unlock },
	};
	void *(*find)(void *, const char *, const char *) =
		dlsym(RTLD_NEXT, "dlvsym");

	for (int i = 0; i < LEN(ours); i++) {
		if (!strcmp(name, ours[i].name))
			return ours[i].address;
	}
	EXPECT(find);
	return find(handle, name, version);
}

int __pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	int (*init)(pthread_mutex_t *, const pthread_mutexattr_t *) =
		dlvsym(RTLD_NEXT, "__pthread_mutex_init", "GLIBC_2.2.5");
	int err = init(m, attr);

	m->__data.__kind &= ~0x80;
	return err;
}
