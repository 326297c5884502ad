/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_LOCKWORK_H
#define LOCKWORK_LOCKWORK_H

/*
 * Lockwork for C: the whole public interface of the library in user space.
 *
 * Every lock is valid when it is all zero (static storage, calloc, the *_INIT
 * macros) and needs no destruction. A lock must not be moved or copied while
 * anybody uses it. No call changes errno. Nothing here is shared between
 * processes: a lock in shared memory does not work.
 *
 * LOCKWORK_DEBUG=1 in the environment makes the mutex calls check their use:
 * unlocking a mutex that the caller does not hold, locking it again, and
 * destroying a held one end the process with a message that names the lock's
 * address and the holder's thread id.
 */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timespec; /* <time.h> hides it from strict C99 */

/*
 * Mutex: 24 bytes, aligned to 8. One locked instruction when it is free.
 * Waiters spin while the holder runs, then sleep; sleepers are served in FIFO
 * order, and one that was overtaken overtake_limit times is handed the mutex.
 * Not recursive. Must be unlocked by the thread that locked it only under
 * LOCKWORK_DEBUG. It must stay allocated until lw_mutex_unlock() has returned
 * in every thread.
 */
typedef struct {
	uint32_t opaque_[2];
	void *opaque_p_;
	uint32_t opaque_2_[2];
} lw_mutex_t;
/* clang-format off */
#define LW_MUTEX_INIT { { 0, 0 }, 0, { 0, 0 } }
/* clang-format on */

void lw_mutex_lock(lw_mutex_t *m);
/* True: held now. */
bool lw_mutex_trylock(lw_mutex_t *m);
/* Until @deadline, absolute on CLOCK_MONOTONIC. False: not held. */
bool lw_mutex_timedlock(lw_mutex_t *m, const struct timespec *deadline);
void lw_mutex_unlock(lw_mutex_t *m);
/* Nothing to free; checks under LOCKWORK_DEBUG that nobody holds it. */
void lw_mutex_destroy(lw_mutex_t *m);

/* In what those queue that spin for a mutex. */
enum lw_mutex_queue {
	LW_MUTEX_OSQ,	  /* one queue, in order of arrival. The default */
	LW_MUTEX_NUMA_OSQ /* one that divides itself by clusters of CPUs while
			   * it is long; see lw_set_clusters() */
};

/*
 * The queue of all mutexes of the process; before any of them is waited for,
 * best at the start of main(). Returns 0, EBUSY (another one is in use, or was
 * set) or EINVAL (no such queue); then nothing has changed.
 */
int lw_mutex_set_queue(enum lw_mutex_queue queue);

/*
 * Condition variable for lw_mutex_t: 8 bytes. Change what is waited for under
 * the mutex; then signal, with or without the mutex. A wait may return without a
 * signal: look again at what is waited for. No wake-up is lost. Not a
 * cancellation point. It must stay allocated until all waits have returned. A
 * forked child may go on with it; waiters of other threads are gone there.
 */
typedef struct {
	uint32_t opaque_[2];
} lw_cond_t;
/* clang-format off */
#define LW_COND_INIT { { 0, 0 } }
/* clang-format on */

/* The caller holds @m, before and after; others may hold it meanwhile. */
void lw_cond_wait(lw_cond_t *c, lw_mutex_t *m);
/*
 * Until @deadline, absolute on CLOCK_MONOTONIC. False: that has passed; the
 * caller holds @m all the same, and a signal may have come as well.
 */
bool lw_cond_timedwait(lw_cond_t *c, lw_mutex_t *m,
		       const struct timespec *deadline);
/* Wakes one waiter, if there is one. */
void lw_cond_signal(lw_cond_t *c);
/* Wakes all waiters. */
void lw_cond_broadcast(lw_cond_t *c);

/*
 * Queued spinlock: 4 bytes. For sections of some hundred nanoseconds. Its mode
 * is one for the process: lw_spin_set_mode(). It must stay allocated until
 * lw_spin_unlock() has returned in every thread.
 */
typedef struct {
	uint32_t opaque_;
} lw_spinlock_t;
/* clang-format off */
#define LW_SPINLOCK_INIT { 0 }
/* clang-format on */

enum lw_spin_mode {
	LW_SPIN_FAIR,  /* FIFO */
	LW_SPIN_STEAL, /* arrivals may take a free lock past the queue */
	LW_SPIN_TAS,   /* test-and-set: no queue, unfair */
	LW_SPIN_PV,    /* for more threads than CPUs: who waits long sleeps */
	LW_SPIN_AUTO   /* PV while CPUs are short, else STEAL on a virtual
			* machine, else FAIR */
};

void lw_spin_lock(lw_spinlock_t *s);
bool lw_spin_trylock(lw_spinlock_t *s);
void lw_spin_unlock(lw_spinlock_t *s);
/* At any time, also while locks are held and waited for. Default: auto. */
void lw_spin_set_mode(enum lw_spin_mode mode);

/*
 * Queued read/write spinlock: 8 bytes, fair: arrivals are served in order,
 * neighbouring readers together. Waiters spin and cannot give up, so there is no
 * call with a deadline. A thread must not read-lock it twice. A forked
 * child must not use one that other threads waited for at the fork; mutexes and
 * spinlocks may be used.
 */
typedef struct {
	uint32_t opaque_[2];
} lw_rwlock_t;
/* clang-format off */
#define LW_RWLOCK_INIT { { 0, 0 } }
/* clang-format on */

void lw_read_lock(lw_rwlock_t *l);
bool lw_read_trylock(lw_rwlock_t *l);
void lw_read_unlock(lw_rwlock_t *l);
void lw_write_lock(lw_rwlock_t *l);
bool lw_write_trylock(lw_rwlock_t *l);
void lw_write_unlock(lw_rwlock_t *l);

/*
 * Sets a knob of the whole process, such as "spin_budget" to "500"; `lockwork
 * locks` lists them. Returns 0, ENOENT (no such knob) or ERANGE (not a value of
 * it); then nothing has changed.
 */
int lw_set_knob(const char *name, const char *value);

/*
 * Which CPUs are a cluster, for locks that pass themselves on near by: lists of
 * CPUs, one a cluster, as in "0-3,8;4-7". CPUs that are not named are in the
 * first. NULL or "": as the system says, by the knob "clusters". Until this is
 * called, the environment variable LOCKWORK_CLUSTERS counts, in the same form.
 * Returns NULL; or what is wrong with @map, and nothing has changed.
 */
const char *lw_set_clusters(const char *map);
/* How many clusters there are, at least 1. */
uint32_t lw_cluster_count(void);
/* How many mutexes are divided by clusters just now; see lw_mutex_set_queue(). */
uint32_t lw_numa_divided(void);

/*
 * Events: what locks count in their slow paths while the knob "count_events" is
 * not 0. Names and what they mean go by numbers from 0; NULL past the last one.
 * Of this header, only mutexes over LW_MUTEX_NUMA_OSQ count any.
 */
const char *lw_event_name(uint32_t n);
const char *lw_event_help(uint32_t n);
/* How often it was counted, to *@sum. Returns 0 or ENOENT (no such event). */
int lw_event_sum(const char *name, uint64_t *sum);
/* All from 0 again; what is counted meanwhile may be lost or stay. */
void lw_events_reset(void);

#ifdef __cplusplus
}
#endif

#endif
