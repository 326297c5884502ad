/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_CATALOGUE_H
#define LK_CATALOGUE_H

/*
 * One catalogue: a lock joins every harness (torture, tests, docs, and each
 * later one) by one line in catalogue.def. The line names a `struct lk_ops`
 * that the lock's own file defines. No other file knows the list of locks.
 */
#include <platform.h>

/* What a lock promises; the harnesses test each promise that is made. */
/* Queued waiters acquire in arrival order; sleepers do while they do not nap. */
#define LK_FIFO	  (1u << 0)
#define LK_RW	  (1u << 1) /* read_* are shared, lock/unlock exclusive */
#define LK_CANCEL (1u << 2) /* attempt() may give up in mid-queue */
/* A mutex, semaphore or condition variable: not for handlers, nor with preemption off. */
#define LK_SLEEPS (1u << 3)
/*
 * The holder keeps a queue node: it nests LKP_MAX_NEST deep, needs a thread
 * slot, and is unlocked by its thread in LIFO order.
 */
#define LK_KEEPS_NODE (1u << 4)
/* A forked child can go on with it though other threads waited at the fork. */
#define LK_FORKS (1u << 5)
/*
 * No promise: it serves waiters by clusters of CPUs, and is pointless where there is
 * one cluster.
 */
#define LK_CLUSTERS (1u << 6)

struct lk_ops {
	const char *name;    /* the name users type, e.g. "qspinlock_fair" */
	const char *summary; /* one line for lists */
	u32 size;	     /* bytes of one lock object */
	u32 align;	     /* its alignment in bytes, a power of two */
	u32 flags;	     /* LK_* */

	void (*init)(void *lock);
	void (*lock)(void *lock);
	void (*unlock)(void *lock);
	/* Optional ones are NULL where the lock has no such operation. */
	bool (*trylock)(void *lock);
	/* Waits at most @ns nanoseconds; false: timed out, not held. */
	bool (*timedlock)(void *lock, u64 ns);
	/* One try that may be cancelled while queued; false: not held. */
	bool (*attempt)(void *lock);
	void (*read_lock)(void *lock);
	void (*read_unlock)(void *lock);
	bool (*read_trylock)(void *lock);
	bool (*read_timedlock)(void *lock, u64 ns);
	/* The caller holds it alone, and from then on shared. */
	void (*downgrade)(void *lock);
	/*
	 * Names the waiter that queued last, 0 when nobody is queued; changes
	 * whenever a waiter joins. For tests of FIFO order; racy by nature.
	 */
	u64 (*last_waiter)(const void *lock);
};

#define LK_LOCK(ops) extern const struct lk_ops ops;
#include "catalogue.def"
#undef LK_LOCK

/* All of them, in the order of catalogue.def, ended by NULL. */
extern const struct lk_ops *const lk_catalogue[];

#endif
