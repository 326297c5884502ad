/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PEER_H
#define PEER_H

/*
 * A shim puts the locks of one library behind `struct lk_ops`. It exports
 *
 *   PEER_EXPORT const struct peer_entry peers_NAME[];   ended by {}
 *   PEER_EXPORT const char peers_NAME_version[];        "" where unknown
 *
 * Include the library's headers first: <platform.h> has short macro names.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
#include "lk_ops_cxx.h"
#define PEER_EXPORT extern "C" __attribute__((visibility("default")))
#else
#include <catalogue.h>
#define PEER_EXPORT __attribute__((visibility("default")))
#endif

/* The numbers of Family in Rust. */
enum peer_family { PEER_MUTEX, PEER_SPIN, PEER_RW };

struct peer_entry {
	const struct lk_ops *ops;
	u32 family; /* enum peer_family */
	/*
	 * @n uncontended lock+unlock pairs, compiled in one with what the
	 * library's headers offer inline. NULL: none.
	 */
	void (*pairs)(void *lock, u64 n);
	void (*read_pairs)(void *lock, u64 n);
};

/* Locks that need a node for each acquisition nest so deep in a thread. */
#define PEER_DEPTH 8

/* A use that a shim cannot serve: one sentence, and the end of the process. */
__attribute__((cold, noinline, noreturn, unused)) static void
peer_fatal(const char *lock, const char *what)
{
	fprintf(stderr, "lockwork: %s: %s\n", lock, what);
	abort();
}

#define PEER_TOO_DEEP \
	"a thread holds at most 8 locks of this kind; hold fewer at once"
#define PEER_NOT_LIFO \
	"not the lock that this thread took last; unlock in reverse order"

/* All of it is inlined, @lock_op and @unlock_op too: they are constants. */
__attribute__((always_inline, unused)) static inline void
peer_pairs(void *lock, u64 n, void (*lock_op)(void *lock),
	   void (*unlock_op)(void *lock))
{
	while (n--) {
		lock_op(lock);
		unlock_op(lock);
	}
}

#ifdef __cplusplus
/* A table without optional operations; C++17 cannot name fields. */
template <class Lock>
static constexpr lk_ops
peer_ops(const char *name, const char *summary, u32 flags, void (*init)(void *),
	 void (*lock)(void *), void (*unlock)(void *), bool (*trylock)(void *))
{
	lk_ops ops = {};

	ops.name = name;
	ops.summary = summary;
	ops.size = sizeof(Lock);
	ops.align = alignof(Lock);
	ops.flags = flags;
	ops.init = init;
	ops.lock = lock;
	ops.unlock = unlock;
	ops.trylock = trylock;
	return ops;
}

/* The same lock, with readers. */
__attribute__((unused)) static constexpr lk_ops
peer_shared(lk_ops ops, void (*read_lock)(void *), void (*read_unlock)(void *),
	    bool (*read_trylock)(void *))
{
	ops.flags |= LK_RW;
	ops.read_lock = read_lock;
	ops.read_unlock = read_unlock;
	ops.read_trylock = read_trylock;
	return ops;
}
#endif

#endif
