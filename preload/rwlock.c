// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_rwlock_*: a struct lk_rwsem in place.
 *
 *   offset  0 sem         the lock
 *          24 cur_writer  the writer's thread id, where glibc has it too
 *          40 mark        it is ours, see mark.c
 *          48 flags       glibc's kind, which static initializers set
 *
 * glibc's default kind lets readers in whoever waits, and programs rely on it: a
 * thread locks again what it already reads, or waits, reading, for another reader.
 * So a thread that holds a read lock of any lock passes all sleepers, and so does
 * one that only tries. With PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP no reader
 * passes a sleeper.
 */
#include "preload.h"

#include "rwsem.h"

#include <string.h>

struct rwlock {
	struct lk_rwsem sem;
	u32 cur_writer;
	u32 unused[3];
	u32 mark;
	u32 pad;
	u32 flags;
};

_Static_assert(sizeof(struct rwlock) == sizeof(pthread_rwlock_t), "size");
_Static_assert(offsetof(struct rwlock, flags) ==
		       offsetof(pthread_rwlock_t, __data.__flags),
	       "flags");
_Static_assert(offsetof(struct rwlock, cur_writer) ==
		       offsetof(pthread_rwlock_t, __data.__cur_writer),
	       "cur_writer");

static inline struct rwlock *ours(pthread_rwlock_t *l)
{
	return (struct rwlock *)l;
}

/* Static initializers clear all words before flags, and set one of its kinds. */
static __cold bool adopt(struct rwlock *l)
{
	return l->flags <= PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP &&
	       lw_adopt((u32 *)l, offsetof(struct rwlock, flags) / sizeof(u32),
			&l->mark);
}

static inline bool is_glibcs(pthread_rwlock_t *l)
{
	return unlikely(READ_ONCE(ours(l)->mark) != LW_MARK) && !adopt(ours(l));
}

static inline bool writers_first(const struct rwlock *l)
{
	return l->flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/* Where waiters spin; asking for the policy sets the knobs. */
static const struct lk_spin_queue *queue(void)
{
	return lw_policy() == LW_POLICY_MUTEX_NUMA ? &lk_spin_over_numa_osq
						   : &lk_spin_over_osq;
}

static bool i_write(struct rwlock *l)
{
	return READ_ONCE(l->cur_writer) == lw_tid();
}

/* These two: also past waiters that a child does not have. */
static bool try_read(struct rwlock *l)
{
	enum lk_rwsem_reader how =
		writers_first(l) ? LK_READER_QUEUES : LK_READER_NESTS;
	bool taken = lk_rwsem_read_trylock(&l->sem, how);

	if (unlikely(!taken)) {
		lk_rwsem_check_epoch(&l->sem);
		taken = lk_rwsem_read_trylock(&l->sem, how);
	}
	lw_self.readers += taken;
	return taken;
}

static bool try_write(struct rwlock *l)
{
	bool taken = lk_rwsem_trylock(&l->sem);

	if (unlikely(!taken)) {
		lk_rwsem_check_epoch(&l->sem);
		taken = lk_rwsem_trylock(&l->sem);
	}
	if (taken)
		WRITE_ONCE(l->cur_writer, lw_tid());
	return taken;
}

/* @when NULL: no deadline. Its nanoseconds are looked at first, as in glibc. */
static int read_until(struct rwlock *l, clockid_t clock,
		      const struct timespec *when)
{
	enum lk_rwsem_reader how = LK_READER_PASSES;
	struct lw_deadline deadline;
	int err = 0;

	if (when && bad_time(when))
		return EINVAL;
	if (writers_first(l))
		how = LK_READER_QUEUES;
	else if (lw_self.readers)
		how = LK_READER_NESTS;
	if (unlikely(!lk_rwsem_read_trylock(&l->sem, how))) {
		if (i_write(l))
			return EDEADLK;
		if (when)
			deadline = deadline_at(clock, when);
		err = -lk_rwsem_read_lock_slow(
			&l->sem, how, when ? &deadline : NULL, queue());
	}
	lw_self.readers += !err;
	return err;
}

static int write_until(struct rwlock *l, clockid_t clock,
		       const struct timespec *when)
{
	struct lw_deadline deadline;
	int err = 0;

	if (when && bad_time(when))
		return EINVAL;
	if (unlikely(!lk_rwsem_lock_fast(&l->sem))) {
		if (i_write(l))
			return EDEADLK;
		if (when)
			deadline = deadline_at(clock, when);
		err = -lk_rwsem_lock_slow(&l->sem, when ? &deadline : NULL,
					  queue());
	}
	if (!err)
		WRITE_ONCE(l->cur_writer, lw_tid());
	return err;
}

static void unlock(struct rwlock *l)
{
	if ((u32)atomic_read(&l->sem.word) & LK_RWSEM_WRITER) {
		WRITE_ONCE(l->cur_writer, 0);
		lk_rwsem_unlock(&l->sem);
		return;
	}
	if (lw_self.readers)
		lw_self.readers--;
	lk_rwsem_read_unlock(&l->sem);
}

/* -- pthread_rwlock_* ---------------------------------------------------- */

EXPORT int pthread_rwlock_init(pthread_rwlock_t *l,
			       const pthread_rwlockattr_t *attr)
{
	int shared = PTHREAD_PROCESS_PRIVATE, kind = PTHREAD_RWLOCK_DEFAULT_NP;

	if (attr) {
		pthread_rwlockattr_getpshared(attr, &shared);
		pthread_rwlockattr_getkind_np(attr, &kind);
	}
	memset(l, 0, sizeof(*l)); /* glibc's init may leave an old mark */
	if (shared == PTHREAD_PROCESS_SHARED)
		return __pthread_rwlock_init(l, attr);
	ours(l)->flags = (u32)kind;
	ours(l)->mark = LW_MARK;
	return 0;
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_destroy(l);
	return 0; /* as glibc, also if it is held */
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_rdlock(l);
	return read_until(ours(l), 0, NULL);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_wrlock(l);
	return write_until(ours(l), 0, NULL);
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_tryrdlock(l);
	return try_read(ours(l)) ? 0 : EBUSY;
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_trywrlock(l);
	return try_write(ours(l)) ? 0 : EBUSY;
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return lw_reals()->rwlock_timedrdlock(l, when);
	return read_until(ours(l), CLOCK_REALTIME, when);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return lw_reals()->rwlock_timedwrlock(l, when);
	return write_until(ours(l), CLOCK_REALTIME, when);
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return lw_reals()->rwlock_clockrdlock(l, clock, when);
	if (bad_clock(clock))
		return EINVAL;
	return read_until(ours(l), clock, when);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *when)
{
	if (is_glibcs(l))
		return lw_reals()->rwlock_clockwrlock(l, clock, when);
	if (bad_clock(clock))
		return EINVAL;
	return write_until(ours(l), clock, when);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	if (is_glibcs(l))
		return __pthread_rwlock_unlock(l);
	unlock(ours(l));
	return 0;
}
