/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PRE_H
#define PRE_H

/*
 * The pthread interposer: each pthread object of an unmodified program is one
 * of ours, in place. What every file of it shares.
 *
 * Rules of the house: no memory from malloc, no dlsym on a fast path, nothing
 * depends on our constructor having run, errno is left alone.
 */
#include <errno.h>
#include <platform.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "usdt.h"

#if !defined(__x86_64__) || !defined(__GLIBC__)
#error "the interposer knows the pthread objects of glibc on x86-64 only"
#endif

#define EXPORT __attribute__((visibility("default")))

/*
 * A function of ours has the versions of glibc's: programs find it by the one that they
 * were linked with, dlsym() by @version, and dlvsym() by any. Without them dlvsym(), by
 * which sanitizers look for the next one, would find glibc's beside ours. @older: glibc
 * has it too. versions.map declares them.
 */
#define PRE_VERSION(name, version) \
	__asm__(".symver " #name ", " #name "@@@GLIBC_" version)
#define PRE_VERSIONS(name, older, version)          \
	PRE_VERSION(name, version);                 \
	__asm__(".globl pre." #name "\n\t"          \
		".set pre." #name ", " #name "\n\t" \
		".symver pre." #name ", " #name "@GLIBC_" older)

/* In glibc since 2.32: no second thread exists, so no atomics are needed. */
extern char __libc_single_threaded __attribute__((weak));

static inline bool single_threaded(void)
{
	return &__libc_single_threaded &&
	       *(volatile char *)&__libc_single_threaded;
}

/* The kernel's id of this thread, also right after a fork. Ends the process without one. */
u32 lkp_tid(void);
/* False: a seccomp filter refuses gettid, and the id is not kept either. */
bool lkp_has_tid(void);
/*
 * From now on a thread's id is read @offset bytes from the thread pointer, in place of a
 * system call. Not in the children of later forks, until they say so.
 */
void lkp_tid_is_kept(ptrdiff_t offset);

/* Which locks pthread locks become; from LOCKWORK_LOCK. */
enum pre_policy {
#define PRE_POLICY(id, name, mutex, rwlock, spinlock, summary) PRE_POLICY_##id,
#include "policies.def"
#undef PRE_POLICY
};
enum pre_policy pre_policy(void);

/* A C11 or POSIX absolute time; its nanoseconds may be out of range. */
static inline bool bad_time(const struct timespec *t)
{
	return t->tv_nsec < 0 || t->tv_nsec >= 1000000000;
}

static inline bool bad_clock(clockid_t clock)
{
	return clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC;
}

static inline struct lkp_deadline deadline_at(clockid_t clock,
					      const struct timespec *t)
{
	return (struct lkp_deadline){ clock, t->tv_sec, t->tv_nsec };
}

/* Ours or glibc's: condvars give the mutex up wholly and take it back. */
int pre_mutex_leave(pthread_mutex_t *m, u32 *depth);
int pre_mutex_enter(pthread_mutex_t *m, u32 depth);
/* The rest of pre_mutex_enter() once the mutex is held. */
void pre_mutex_taken(pthread_mutex_t *m, u32 depth);
/*
 * Where a broadcast may queue waiters. NULL: the mutex is glibc's, or not ours to give
 * up, or glibc's own code holds it, whose unlock does not look for our sleepers.
 */
struct lk_mutex *pre_mutex_to_move_to(pthread_mutex_t *m);

/*
 * The caller is about to wait by glibc's own code, which unlocks @m and locks it again.
 * True: after that wait call pre_mutex_lent(), as glibc has left an owner there that was
 * none before.
 */
bool pre_mutex_lend(pthread_mutex_t *m);
void pre_mutex_lent(pthread_mutex_t *m);

struct lk_cond;
/* Waits, without or with a deadline: 0, ETIMEDOUT, or why @mutex could not be given up. */
int pre_cond_wait(struct lk_cond *c, pthread_mutex_t *mutex,
		  const struct lkp_deadline *deadline);

/* Not a value that glibc's fields have by chance; see mark.c. */
#define PRE_MARK 0xa110c8edu
/*
 * Of an object without the mark: true if it is ours now, marked; false if it is
 * glibc's. The first @count of its @words are 0 after static initialization.
 */
__cold bool pre_adopt(const u32 *words, u32 count, u32 *mark);

/* Tries glibc's objects out, unless that is done; see probe.c. */
void pre_probe(void);
/* Bit 1 << type: nobody asks who owns such a mutex. 0: mutexes are glibc's. */
extern u32 pre_plain_types __attribute__((visibility("hidden")));
/* What marks a spinlock as ours; 0: spinlocks are glibc's. */
extern u32 pre_spin_tag __attribute__((visibility("hidden")));

/*
 * glibc's own functions that have no other name than the ones we take, or whose other
 * name sanitizers take; each with the glibc that gave it its default version: a condvar
 * has an older twin.
 */
#define PRE_REALS(X)                                                      \
	X(mutex_lock, "2.2.5", int, (pthread_mutex_t *))                  \
	X(mutex_unlock, "2.2.5", int, (pthread_mutex_t *))                \
	X(mutex_timedlock, "2.34", int,                                   \
	  (pthread_mutex_t *, const struct timespec *))                   \
	X(mutex_clocklock, "2.34", int,                                   \
	  (pthread_mutex_t *, clockid_t, const struct timespec *))        \
	X(cond_init, "2.3.2", int,                                        \
	  (pthread_cond_t *, const pthread_condattr_t *))                 \
	X(cond_destroy, "2.3.2", int, (pthread_cond_t *))                 \
	X(cond_signal, "2.3.2", int, (pthread_cond_t *))                  \
	X(cond_broadcast, "2.3.2", int, (pthread_cond_t *))               \
	X(cond_wait, "2.3.2", int, (pthread_cond_t *, pthread_mutex_t *)) \
	X(cond_timedwait, "2.3.2", int,                                   \
	  (pthread_cond_t *, pthread_mutex_t *, const struct timespec *)) \
	X(cond_clockwait, "2.34", int,                                    \
	  (pthread_cond_t *, pthread_mutex_t *, clockid_t,                \
	   const struct timespec *))                                      \
	X(rwlock_timedrdlock, "2.34", int,                                \
	  (pthread_rwlock_t *, const struct timespec *))                  \
	X(rwlock_timedwrlock, "2.34", int,                                \
	  (pthread_rwlock_t *, const struct timespec *))                  \
	X(rwlock_clockrdlock, "2.34", int,                                \
	  (pthread_rwlock_t *, clockid_t, const struct timespec *))       \
	X(rwlock_clockwrlock, "2.34", int,                                \
	  (pthread_rwlock_t *, clockid_t, const struct timespec *))       \
	X(spin_init, "2.34", int, (pthread_spinlock_t *, int))            \
	X(spin_destroy, "2.34", int, (pthread_spinlock_t *))              \
	X(spin_lock, "2.34", int, (pthread_spinlock_t *))                 \
	X(spin_trylock, "2.34", int, (pthread_spinlock_t *))              \
	X(spin_unlock, "2.34", int, (pthread_spinlock_t *))

struct pre_reals {
#define X(name, version, ret, args) ret(*name) args;
	PRE_REALS(X)
#undef X
};
/* Looks them up in the first call, which is when we are loaded, or earlier. */
const struct pre_reals *pre_reals(void);

/*
 * The rest glibc exports under second names that nobody interposes, so they
 * need no dlsym. It keeps them for old programs only, at its first version.
 */
#define PRE_SECOND_NAME(name, ...)                              \
	__asm__(".symver __pthread_" #name ", __pthread_" #name \
		"@GLIBC_2.2.5");                                \
	int __pthread_##name(__VA_ARGS__)

PRE_SECOND_NAME(mutex_init, pthread_mutex_t *, const pthread_mutexattr_t *);
PRE_SECOND_NAME(mutex_destroy, pthread_mutex_t *);
PRE_SECOND_NAME(mutex_trylock, pthread_mutex_t *);
PRE_SECOND_NAME(rwlock_init, pthread_rwlock_t *, const pthread_rwlockattr_t *);
PRE_SECOND_NAME(rwlock_destroy, pthread_rwlock_t *);
PRE_SECOND_NAME(rwlock_rdlock, pthread_rwlock_t *);
PRE_SECOND_NAME(rwlock_tryrdlock, pthread_rwlock_t *);
PRE_SECOND_NAME(rwlock_wrlock, pthread_rwlock_t *);
PRE_SECOND_NAME(rwlock_trywrlock, pthread_rwlock_t *);
PRE_SECOND_NAME(rwlock_unlock, pthread_rwlock_t *);

#endif
