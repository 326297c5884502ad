/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PRE_RWLOCK_PARTS_H
#define PRE_RWLOCK_PARTS_H

/*
 * Steps of which the calls for a pthread read/write lock are made; rwlock.c has the
 * layout.
 *
 * glibc's default kind lets readers in while writers wait, and programs rely on it: a
 * thread locks again what it already reads, or waits, reading, for another reader.
 * So a thread that holds a read lock of any lock passes all sleepers, and so does
 * one that only tries. With PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP no reader
 * passes a sleeper.
 */
#include "preload.h"

#include "rwsem.h"

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
	       pre_adopt((u32 *)l, offsetof(struct rwlock, flags) / sizeof(u32),
			 &l->mark);
}

static inline bool is_glibcs(pthread_rwlock_t *l)
{
	return unlikely(READ_ONCE(ours(l)->mark) != PRE_MARK) &&
	       !adopt(ours(l));
}

static inline bool writers_first(const struct rwlock *l)
{
	return l->flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/*
 * Waits for a lock that could not be taken at once: 0 or ETIMEDOUT. @gain:
 * LK_RWSEM_WRITER or LK_RWSEM_READER, and how a reader treats waiters.
 */
__cold int pre_rwlock_wait(struct lk_rwsem *sem, u32 gain,
			   enum lk_rwsem_reader how,
			   const struct lkp_deadline *deadline);

static inline bool i_write(struct rwlock *l)
{
	return READ_ONCE(l->cur_writer) == lkp_tid();
}

static inline bool try_read(struct rwlock *l)
{
	enum lk_rwsem_reader how =
		writers_first(l) ? LK_READER_QUEUES : LK_READER_NESTS;
	bool taken = lk_rwsem_try_read(&l->sem, how);

	lkp_self.readers += taken;
	return taken;
}

static inline bool try_write(struct rwlock *l)
{
	bool taken = lk_rwsem_try_write(&l->sem);

	if (taken)
		WRITE_ONCE(l->cur_writer, lkp_tid());
	return taken;
}

/* How rdlock() treats those that wait. */
static inline enum lk_rwsem_reader reads_as(const struct rwlock *l)
{
	if (writers_first(l))
		return LK_READER_QUEUES;
	return lkp_self.readers ? LK_READER_NESTS : LK_READER_PASSES;
}

/* @when NULL: no deadline. Its nanoseconds are looked at first, as in glibc. */
static inline int read_until(struct rwlock *l, clockid_t clock,
			     const struct timespec *when)
{
	enum lk_rwsem_reader how = reads_as(l);
	struct lkp_deadline deadline;
	int err = 0;

	if (when && bad_time(when))
		return EINVAL;
	if (unlikely(!lk_rwsem_read_trylock(&l->sem, how))) {
		if (i_write(l))
			return EDEADLK;
		if (when)
			deadline = deadline_at(clock, when);
		err = pre_rwlock_wait(&l->sem, LK_RWSEM_READER, how,
				      when ? &deadline : NULL);
	}
	lkp_self.readers += !err;
	return err;
}

static inline int write_until(struct rwlock *l, clockid_t clock,
			      const struct timespec *when)
{
	struct lkp_deadline deadline;
	int err = 0;

	if (when && bad_time(when))
		return EINVAL;
	if (unlikely(!lk_rwsem_lock_fast(&l->sem))) {
		if (i_write(l))
			return EDEADLK;
		if (when)
			deadline = deadline_at(clock, when);
		err = pre_rwlock_wait(&l->sem, LK_RWSEM_WRITER,
				      LK_READER_PASSES,
				      when ? &deadline : NULL);
	}
	if (!err)
		WRITE_ONCE(l->cur_writer, lkp_tid());
	return err;
}

static inline void unlock(struct rwlock *l)
{
	if ((u32)atomic_read(&l->sem.word) & LK_RWSEM_WRITER) {
		WRITE_ONCE(l->cur_writer, 0);
		lk_rwsem_unlock(&l->sem);
		return;
	}
	if (lkp_self.readers)
		lkp_self.readers--;
	lk_rwsem_read_unlock(&l->sem);
}

#endif
