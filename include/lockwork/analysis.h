/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_ANALYSIS_H
#define LOCKWORK_ANALYSIS_H

/*
 * What clang's thread safety analysis (-Wthread-safety) is told of the locks: which calls
 * take one, and which release it. Other compilers see nothing of it. Written from clang's manual.
 *
 * LW_GUARDED_BY(lock) and LW_REQUIRES(lock) are for programs: behind a variable that is
 * only used while @lock is held, and behind a function that is only called then.
 */
#ifdef __clang__
#define LW_ANALYSIS_(...) __attribute__((__VA_ARGS__))
#else
#define LW_ANALYSIS_(...)
#endif

#define LW_GUARDED_BY(lock)	 LW_ANALYSIS_(guarded_by(lock))
#define LW_REQUIRES(lock)	 LW_ANALYSIS_(requires_capability(lock))
#define LW_REQUIRES_SHARED(lock) LW_ANALYSIS_(requires_shared_capability(lock))

/* For the types and calls of lockwork.h. */
#define LW_LOCK_	      LW_ANALYSIS_(capability("mutex"))
#define LW_ACQUIRE_(l)	      LW_ANALYSIS_(acquire_capability(l))
#define LW_ACQUIRE_SHARED_(l) LW_ANALYSIS_(acquire_shared_capability(l))
#define LW_TRY_(l)	      LW_ANALYSIS_(try_acquire_capability(true, l))
#define LW_TRY_SHARED_(l)     LW_ANALYSIS_(try_acquire_shared_capability(true, l))
#define LW_RELEASE_(l)	      LW_ANALYSIS_(release_capability(l))
#define LW_RELEASE_SHARED_(l) LW_ANALYSIS_(release_shared_capability(l))
#define LW_FREE_(l)	      LW_ANALYSIS_(locks_excluded(l))

/*
 * For the member functions of lockwork.hpp, which take or release *this. Their bodies call
 * the functions of lockwork.h on a member, which the analysis takes for another lock.
 */
#define LW_BODY_	    LW_ANALYSIS_(no_thread_safety_analysis)
#define LW_ACQUIRES_	    LW_ANALYSIS_(acquire_capability()) LW_BODY_
#define LW_ACQUIRES_SHARED_ LW_ANALYSIS_(acquire_shared_capability()) LW_BODY_
#define LW_TRIES_	    LW_ANALYSIS_(try_acquire_capability(true)) LW_BODY_
#define LW_TRIES_SHARED_ \
	LW_ANALYSIS_(try_acquire_shared_capability(true)) LW_BODY_
#define LW_RELEASES_	    LW_ANALYSIS_(release_capability()) LW_BODY_
#define LW_RELEASES_SHARED_ LW_ANALYSIS_(release_shared_capability()) LW_BODY_

#endif
