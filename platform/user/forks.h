/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_FORKS_H
#define LKP_FORKS_H

/*
 * How the threads of a process notice that it is a forked child, without system calls:
 * the model checker runs this as well. The state is a word on a page that the kernel
 * clears in a child:
 *
 *   NEW --first thread that asks--> BUSY --parent's threads are forgotten--> DONE
 *    ^------------------------------------- a fork --------------------------'
 *
 * Written from: no text.
 */
#include <atomic.h>

enum { LKP_FORK_NEW, LKP_FORK_DONE, LKP_FORK_BUSY };

static inline bool lkp_fork_is_done(const u32 *state)
{
	/* [forks.B] ACQUIRE, pairs with forks.A: see the new epoch, and the slots
	 * of the parent's threads free. */
	return likely(smp_load_acquire(state) == LKP_FORK_DONE);
}

/*
 * True for one thread of the child, which then forgets the parent's threads and calls
 * lkp_fork_end(). The others return when it has.
 */
static inline bool lkp_fork_begin(u32 *state)
{
	u32 seen = LKP_FORK_NEW;

	/* Orders nothing: what is forgotten was written before the fork, or by this
	 * thread. The others write nothing before DONE. */
	if (try_cmpxchg_relaxed(state, &seen, LKP_FORK_BUSY))
		return true;
	/* [forks.B] */
	smp_cond_load_acquire(state, VAL == LKP_FORK_DONE);
	return false;
}

static inline void lkp_fork_end(u32 *state)
{
	/* [forks.A] RELEASE, pairs with forks.B. */
	smp_store_release(state, LKP_FORK_DONE);
}

/* Where the state is. A first page may come while others ask. */
static inline u32 *lkp_fork_state(u32 *const *where)
{
	/* [forks.D] address dependency, pairs with forks.C: see DONE there. */
	return READ_ONCE_DEP(*where);
}

/* Makes @state the state, if *@where is still @none. The caller has just mapped it. */
static inline bool lkp_fork_keep(u32 **where, u32 *none, u32 *state)
{
	WRITE_ONCE(*state, LKP_FORK_DONE);
	/* [forks.C] RELEASE, pairs with forks.D: a thread that saw NEW there would
	 * take it for a fork, and free slots that are in use. */
	return try_cmpxchg_release(where, &none, state);
}

#endif
