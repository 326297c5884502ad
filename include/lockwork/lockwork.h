/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_LOCKWORK_H
#define LOCKWORK_LOCKWORK_H

/*
 * Lockwork for C: the library's complete interface for user space.
 *
 * A lock whose bytes are all zero is initialised and free: static storage,
 * calloc and the *_INIT macros are enough. A lock needs no destruction. Do not
 * move or copy a lock while a thread uses it. No call changes errno. The locks
 * work within one process only: a lock in shared memory does not work. All code that
 * shares a lock must use one copy of this library: a program and its plugins that pass
 * locks to each other link the shared library, not the static one each.
 *
 * A deadline is an absolute time of CLOCK_MONOTONIC, and not NULL. Nanoseconds out of
 * range are carried into the seconds. A call with a deadline may return later than
 * that by the time that it spins, and may still take the lock then.
 *
 * With LOCKWORK_DEBUG=1 in the environment, the mutex calls check how they are
 * used. The process ends with a message if a thread unlocks a mutex that it does
 * not hold, locks a mutex that it holds without a deadline, or destroys a mutex that is
 * held. The message gives the lock's address and the holder's thread id. A deadlock
 * ends the process too: threads that wait for each other's mutexes in a circle, without
 * a deadline.
 */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <lockwork/analysis.h>

/* The version of this header. Before 1.0 a minor version may change the interface. */
#define LOCKWORK_VERSION_MAJOR 0
#define LOCKWORK_VERSION_MINOR 1
#define LOCKWORK_VERSION_PATCH 0

/* The result says whether the caller holds the lock: to ignore it is a mistake. */
#if defined(__GNUC__)
#define LW_MUST_CHECK __attribute__((warn_unused_result))
#else
#define LW_MUST_CHECK
#endif

/* A null pointer in the initialisers. */
#ifdef __cplusplus
#define LW_NULL_ nullptr
extern "C" {
#else
#define LW_NULL_ 0
#endif

struct timespec; /* in strict C99, <time.h> does not declare it */

/*
 * Mutex: 24 bytes, aligned to 8. Locking a free mutex takes one atomic
 * instruction. Waiters spin while the holder runs, then sleep. Sleepers get the
 * mutex by real-time priority, and in FIFO order among equals. Other threads may
 * overtake the first sleeper; after overtake_limit unlocks (a knob), the next unlock
 * hands the mutex to it. A first sleeper that is stopped keeps a free mutex from
 * nobody: those behind it look for themselves after 32 ms, doubling to 1 s, unless the
 * knob naps is 0.
 *
 * The mutex is not recursive. Any thread may unlock it, except that under
 * LOCKWORK_DEBUG only the thread that locked it may. The mutex must stay
 * allocated until lw_mutex_unlock() has returned in every thread.
 */
typedef struct LW_LOCK_ {
	uint32_t opaque_[2];
	void *opaque_p_;
	uint32_t opaque_2_[2];
} lw_mutex_t;
/* clang-format off */
#define LW_MUTEX_INIT { { 0, 0 }, LW_NULL_, { 0, 0 } }
/* clang-format on */

void lw_mutex_lock(lw_mutex_t *m) LW_ACQUIRE_(m);
/* Does not wait. Returns true if the caller now holds @m. */
LW_MUST_CHECK bool lw_mutex_trylock(lw_mutex_t *m) LW_TRY_(m);
/*
 * Waits until @deadline. Returns true if the caller now holds @m, and false if the
 * deadline passed first.
 */
LW_MUST_CHECK bool lw_mutex_timedlock(lw_mutex_t *m,
				      const struct timespec *deadline)
	LW_TRY_(m);
void lw_mutex_unlock(lw_mutex_t *m) LW_RELEASE_(m);
/*
 * Frees nothing, so calling it is optional. Under LOCKWORK_DEBUG it checks that
 * no thread holds @m.
 */
void lw_mutex_destroy(lw_mutex_t *m) LW_FREE_(m);

/* The queue in which spinning waiters of a mutex or read/write lock wait. */
enum lw_queue {
	LW_QUEUE_OSQ,	  /* one FIFO queue; the default */
	LW_QUEUE_NUMA_OSQ /* a FIFO queue that divides into one queue per
			   * cluster of CPUs while it is long; see
			   * lw_set_clusters() */
};

/*
 * Sets the queue of all mutexes and read/write locks (lw_rwlock_t) of the process.
 * Call it before any thread waits for one, best at the start of main(). Returns 0 on
 * success, EBUSY if another queue is already in use or set, and EINVAL if @queue is not
 * a queue. On an error nothing changes.
 */
int lw_set_queue(enum lw_queue queue);

/*
 * Condition variable for lw_mutex_t: 16 bytes, aligned to 8. Hold the mutex while
 * you change the condition that threads wait for; then signal, with or without the
 * mutex. A wait may return without a signal, so test the condition again after each
 * wait. No wake-up is lost. Waiters are woken by real-time priority, and in FIFO order
 * among equals. After a broadcast they get the mutex one after the other. A wait is not
 * a cancellation point. The condition variable must stay allocated until all waits on it,
 * and all signals and broadcasts, have returned. A forked child may keep using it; the other
 * threads' waits do not exist in the child.
 */
typedef struct {
	void *opaque_p_;
	uint32_t opaque_[2];
} lw_cond_t;
/* clang-format off */
#define LW_COND_INIT { LW_NULL_, { 0, 0 } }
/* clang-format on */

/*
 * The caller must hold @m. The call unlocks @m, waits, and locks @m again before
 * it returns. Waiters of one condition variable may use different mutexes.
 */
void lw_cond_wait(lw_cond_t *c, lw_mutex_t *m) LW_REQUIRES(m);
/*
 * As lw_cond_wait(), but waits until @deadline. Returns false if the deadline passed.
 * The caller holds @m in both cases. A signal may have arrived even if the call returns
 * false.
 */
bool lw_cond_timedwait(lw_cond_t *c, lw_mutex_t *m,
		       const struct timespec *deadline) LW_REQUIRES(m);
/* Wakes one waiter, if any. */
void lw_cond_signal(lw_cond_t *c);
/* Wakes all waiters. */
void lw_cond_broadcast(lw_cond_t *c);

/*
 * Queued spinlock: 4 bytes. Use it for critical sections of a few hundred
 * nanoseconds. lw_spin_set_mode() sets the mode of all spinlocks of the process.
 * The spinlock must stay allocated until lw_spin_unlock() has returned in every
 * thread.
 */
typedef struct LW_LOCK_ {
	uint32_t opaque_;
} lw_spinlock_t;
/* clang-format off */
#define LW_SPINLOCK_INIT { 0 }
/* clang-format on */

enum lw_spin_mode {
	LW_SPIN_FAIR,  /* FIFO queue */
	LW_SPIN_STEAL, /* an arriving thread may take a free lock ahead of
			* the queue */
	LW_SPIN_TAS,   /* test-and-set: no queue, unfair */
	LW_SPIN_PV,    /* for more threads than CPUs: a waiter that has spun
			* for long sleeps */
	LW_SPIN_AUTO   /* PV while the process has more threads than CPUs;
			* otherwise STEAL on a virtual machine, FAIR on
			* others */
};

void lw_spin_lock(lw_spinlock_t *s) LW_ACQUIRE_(s);
/*
 * Does not wait. Returns true if the caller now holds @s. FAIR fails while others
 * wait. STEAL, TAS and PV take a free lock ahead of the queue, unless the head of
 * the queue has stopped that. AUTO does as the mode that it selects.
 */
LW_MUST_CHECK bool lw_spin_trylock(lw_spinlock_t *s) LW_TRY_(s);
void lw_spin_unlock(lw_spinlock_t *s) LW_RELEASE_(s);
/*
 * Sets the mode of all spinlocks of the process. It may be called at any time,
 * also while spinlocks are held and waited for. The default is LW_SPIN_AUTO. Returns 0
 * on success, and EINVAL if @mode is not a mode; then nothing changes.
 */
int lw_spin_set_mode(enum lw_spin_mode mode);

/*
 * Read/write lock: 24 bytes, aligned to 8. Many readers hold it together, or one
 * writer holds it alone. Waiters spin while a writer runs, then sleep. Sleepers are
 * served by real-time priority, and in FIFO order among equals; readers that sleep are
 * let in together. Arriving threads may
 * overtake the first sleeper until it has lost overtake_limit times (a knob) or has
 * slept for 1 ms. After that they queue behind it. If the readers that hold the lock have
 * not left after another 20 ms, the readers that have queued are let in, too, and again
 * after 40 ms, doubling to 640 ms. As with the mutex, a first sleeper that is stopped keeps
 * a free lock from nobody.
 *
 * A thread that already holds the lock shared must use the nested calls to lock it
 * shared again. With the plain calls it may wait for a writer that itself waits for this
 * thread; such a wait ends after 20 ms, or after up to 640 ms if that writer has waited for
 * long. A thread that holds the lock exclusively must not lock it again, and cannot turn a
 * shared hold into an exclusive one.
 *
 * The lock must stay allocated until the last call on it has returned in every
 * thread. A forked child may use it, also if other threads waited for it at the fork.
 */
typedef struct LW_LOCK_ {
	uint32_t opaque_[2];
	void *opaque_p_;
	uint32_t opaque_2_[2];
} lw_rwlock_t;
/* clang-format off */
#define LW_RWLOCK_INIT { { 0, 0 }, LW_NULL_, { 0, 0 } }
/* clang-format on */

void lw_read_lock(lw_rwlock_t *l) LW_ACQUIRE_SHARED_(l);
/* Does not wait. Returns true if the caller now holds @l shared. */
LW_MUST_CHECK bool lw_read_trylock(lw_rwlock_t *l) LW_TRY_SHARED_(l);
/*
 * Waits until @deadline. Returns true if the caller now holds @l shared, and false if
 * the deadline passed first.
 */
LW_MUST_CHECK bool lw_read_timedlock(lw_rwlock_t *l,
				     const struct timespec *deadline)
	LW_TRY_SHARED_(l);
/*
 * The same for a thread that may hold @l shared already: waits for no waiting writer,
 * only for one that holds @l. Many such readers can keep a writer waiting for ever.
 */
void lw_read_lock_nested(lw_rwlock_t *l) LW_ACQUIRE_SHARED_(l);
LW_MUST_CHECK bool lw_read_trylock_nested(lw_rwlock_t *l) LW_TRY_SHARED_(l);
void lw_read_unlock(lw_rwlock_t *l) LW_RELEASE_SHARED_(l);

void lw_write_lock(lw_rwlock_t *l) LW_ACQUIRE_(l);
/* Does not wait. Returns true if the caller now holds @l exclusively. */
LW_MUST_CHECK bool lw_write_trylock(lw_rwlock_t *l) LW_TRY_(l);
/* As lw_read_timedlock(), for an exclusive hold. */
LW_MUST_CHECK bool lw_write_timedlock(lw_rwlock_t *l,
				      const struct timespec *deadline)
	LW_TRY_(l);
void lw_write_unlock(lw_rwlock_t *l) LW_RELEASE_(l);
/*
 * The caller holds @l exclusively, and afterwards shared. No writer holds it in
 * between. Other readers may come in.
 */
void lw_write_downgrade(lw_rwlock_t *l) LW_RELEASE_(l) LW_ACQUIRE_SHARED_(l);

/*
 * Queued read/write spinlock: 8 bytes, for critical sections of a few hundred
 * nanoseconds. It is fair: while a writer holds it or waits, waiters are served in FIFO
 * order, and readers that are next to each other in the queue hold it together. While
 * readers hold it and no writer waits, readers come in at once. Waiters spin; there is no
 * call with a deadline. A thread must not lock it again while it holds it, not even
 * shared. A forked child must not use one that other threads waited for at the fork. (It
 * may use any other lock of this header.)
 */
typedef struct LW_LOCK_ {
	uint32_t opaque_[2];
} lw_spin_rwlock_t;
/* clang-format off */
#define LW_SPIN_RWLOCK_INIT { { 0, 0 } }
/* clang-format on */

void lw_spin_read_lock(lw_spin_rwlock_t *l) LW_ACQUIRE_SHARED_(l);
LW_MUST_CHECK bool lw_spin_read_trylock(lw_spin_rwlock_t *l) LW_TRY_SHARED_(l);
void lw_spin_read_unlock(lw_spin_rwlock_t *l) LW_RELEASE_SHARED_(l);
void lw_spin_write_lock(lw_spin_rwlock_t *l) LW_ACQUIRE_(l);
LW_MUST_CHECK bool lw_spin_write_trylock(lw_spin_rwlock_t *l) LW_TRY_(l);
void lw_spin_write_unlock(lw_spin_rwlock_t *l) LW_RELEASE_(l);

/*
 * Sets a knob for the whole process: for example "spin_budget" to "500".
 * `lockwork locks` lists the knobs. Returns 0 on success, ENOENT if there is no
 * such knob, and ERANGE if the knob does not take this value. On an error nothing
 * changes.
 */
int lw_set_knob(const char *name, const char *value);

/*
 * Sets which CPUs form a cluster. A lock that knows clusters prefers hand-overs
 * inside a cluster. @map has one list of CPUs for each cluster, as in
 * "0-3,8;4-7". CPUs in none of the lists belong to the first cluster. With NULL
 * or "", the clusters follow the system's topology; the knob "clusters" selects
 * the level. Until this function is called, the environment variable
 * LOCKWORK_CLUSTERS is used; it has the same form. Returns NULL on success.
 * Otherwise it returns a text that says what is wrong with @map, and nothing
 * changes.
 */
const char *lw_set_clusters(const char *map);
/* Returns the number of clusters, at least 1. */
uint32_t lw_cluster_count(void);
/*
 * Returns the number of locks whose queue is divided by clusters at the moment;
 * see lw_set_queue().
 */
uint32_t lw_numa_divided(void);

/*
 * Events are counters that locks update in their slow paths while the knob
 * "count_events" is not 0. Sleeps and wake-ups ("slept", "woke") are counted for every
 * lock. Events are numbered from 0. These two functions
 * return the name and the meaning of event @n, and NULL after the last event.
 */
const char *lw_event_name(uint32_t n);
const char *lw_event_help(uint32_t n);
/*
 * Stores how often the event @name was counted in *@sum. Returns 0 on success and
 * ENOENT if there is no such event; then *@sum is unchanged.
 */
int lw_event_sum(const char *name, uint64_t *sum);
/*
 * Sets all events to 0. A count that another thread makes during this call may be
 * lost or kept.
 */
void lw_events_reset(void);

#ifdef __cplusplus
}
#endif

#endif
