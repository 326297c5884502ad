// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* glibc's own locks; linked in, as they are in every program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <time.h>

#include "peer.h"

/* The time in @ns nanoseconds, at most some centuries. */
static struct timespec in(u64 ns)
{
	const u64 second = 1000000000;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	ns += (u64)at.tv_nsec < ~(u64)0 - ns ? (u64)at.tv_nsec : 0;
	at.tv_sec += (time_t)(ns / second);
	at.tv_nsec = (long)(ns % second);
	return at;
}

/* -- pthread_mutex_t ------------------------------------------------------- */

static void mutex_init(void *lock)
{
	pthread_mutex_init(lock, NULL);
}

static void adaptive_init(void *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void mutex_lock(void *lock)
{
	pthread_mutex_lock(lock);
}

static void mutex_unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

static bool mutex_trylock(void *lock)
{
	return !pthread_mutex_trylock(lock);
}

static bool mutex_timedlock(void *lock, u64 ns)
{
	struct timespec at = in(ns);

	return !pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &at);
}

/* glibc offers nothing inline: these are the calls, without the table. */
static void mutex_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, mutex_lock, mutex_unlock);
}

static const struct lk_ops mutex_ops = {
	.name = "glibc.mutex",
	.summary = "pthread_mutex_t, default kind: sleeps at once",
	.size = sizeof(pthread_mutex_t),
	.align = _Alignof(pthread_mutex_t),
	.flags = LK_SLEEPS,
	.init = mutex_init,
	.lock = mutex_lock,
	.unlock = mutex_unlock,
	.trylock = mutex_trylock,
	.timedlock = mutex_timedlock,
};

static const struct lk_ops adaptive_ops = {
	.name = "glibc.adaptive",
	.summary = "pthread_mutex_t, PTHREAD_MUTEX_ADAPTIVE_NP: spins, sleeps",
	.size = sizeof(pthread_mutex_t),
	.align = _Alignof(pthread_mutex_t),
	.flags = LK_SLEEPS,
	.init = adaptive_init,
	.lock = mutex_lock,
	.unlock = mutex_unlock,
	.trylock = mutex_trylock,
	.timedlock = mutex_timedlock,
};

/* -- pthread_rwlock_t ------------------------------------------------------ */

static void rwlock_init(void *lock)
{
	pthread_rwlock_init(lock, NULL);
}

static void rwlock_writer_init(void *lock)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(
		&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
}

static void rwlock_lock(void *lock)
{
	pthread_rwlock_wrlock(lock);
}

static void rwlock_unlock(void *lock)
{
	pthread_rwlock_unlock(lock);
}

static bool rwlock_trylock(void *lock)
{
	return !pthread_rwlock_trywrlock(lock);
}

static bool rwlock_timedlock(void *lock, u64 ns)
{
	struct timespec at = in(ns);

	return !pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &at);
}

/* EAGAIN: as many readers as the count can hold. None goes in uncounted. */
static void rwlock_read_lock(void *lock)
{
	while (unlikely(pthread_rwlock_rdlock(lock) == EAGAIN))
		;
}

static bool rwlock_read_trylock(void *lock)
{
	return !pthread_rwlock_tryrdlock(lock);
}

static void rwlock_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, rwlock_lock, rwlock_unlock);
}

static void rwlock_read_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, rwlock_read_lock, rwlock_unlock);
}

static const struct lk_ops rwlock_ops = {
	.name = "glibc.rwlock",
	.summary = "pthread_rwlock_t, default kind: readers first, sleeps",
	.size = sizeof(pthread_rwlock_t),
	.align = _Alignof(pthread_rwlock_t),
	.flags = LK_RW | LK_SLEEPS,
	.init = rwlock_init,
	.lock = rwlock_lock,
	.unlock = rwlock_unlock,
	.trylock = rwlock_trylock,
	.timedlock = rwlock_timedlock,
	.read_lock = rwlock_read_lock,
	.read_unlock = rwlock_unlock,
	.read_trylock = rwlock_read_trylock,
};

static const struct lk_ops rwlock_writer_ops = {
	.name = "glibc.rwlock_writer",
	.summary = "pthread_rwlock_t, PREFER_WRITER_NONRECURSIVE: sleeps",
	.size = sizeof(pthread_rwlock_t),
	.align = _Alignof(pthread_rwlock_t),
	.flags = LK_RW | LK_SLEEPS,
	.init = rwlock_writer_init,
	.lock = rwlock_lock,
	.unlock = rwlock_unlock,
	.trylock = rwlock_trylock,
	.timedlock = rwlock_timedlock,
	.read_lock = rwlock_read_lock,
	.read_unlock = rwlock_unlock,
	.read_trylock = rwlock_read_trylock,
};

/* -- pthread_spinlock_t ---------------------------------------------------- */

static void spin_init(void *lock)
{
	pthread_spin_init(lock, PTHREAD_PROCESS_PRIVATE);
}

static void spin_lock(void *lock)
{
	pthread_spin_lock(lock);
}

static void spin_unlock(void *lock)
{
	pthread_spin_unlock(lock);
}

static bool spin_trylock(void *lock)
{
	return !pthread_spin_trylock(lock);
}

static void spin_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, spin_lock, spin_unlock);
}

static const struct lk_ops spin_ops = {
	.name = "glibc.spin",
	.summary = "pthread_spinlock_t: test-and-set, never sleeps",
	.size = sizeof(pthread_spinlock_t),
	.align = _Alignof(pthread_spinlock_t),
	.init = spin_init,
	.lock = spin_lock,
	.unlock = spin_unlock,
	.trylock = spin_trylock,
};

const struct peer_entry peers_glibc[] = {
	{ &mutex_ops, PEER_MUTEX, mutex_pairs, NULL },
	{ &adaptive_ops, PEER_MUTEX, mutex_pairs, NULL },
	{ &rwlock_ops, PEER_RW, rwlock_pairs, rwlock_read_pairs },
	{ &rwlock_writer_ops, PEER_RW, rwlock_pairs, rwlock_read_pairs },
	{ &spin_ops, PEER_SPIN, spin_pairs, NULL },
	{ 0 },
};

/* The glibc that runs here, or NULL where something else took its locks' place. */
const char *peers_glibc_running(void)
{
	static const char *const calls[] = { "pthread_mutex_lock",
					     "pthread_rwlock_wrlock",
					     "pthread_spin_lock" };
	Dl_info libc, call;

	if (!dladdr((void *)gnu_get_libc_version, &libc))
		return NULL;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!dladdr(dlsym(RTLD_DEFAULT, calls[i]), &call) ||
		    call.dli_fbase != libc.dli_fbase)
			return NULL;
	return gnu_get_libc_version();
}
