/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The lock calls as one object file sees them. */
#ifndef LOCKWORK_TESTS_PRELOAD_BYPASS_H
#define LOCKWORK_TESTS_PRELOAD_BYPASS_H

#include <pthread.h>
#include <time.h>

struct calls {
	int (*lock)(pthread_mutex_t *);
	int (*trylock)(pthread_mutex_t *);
	int (*timedlock)(pthread_mutex_t *, const struct timespec *);
	int (*unlock)(pthread_mutex_t *);
	int (*destroy)(pthread_mutex_t *);
	int (*spin_init)(pthread_spinlock_t *, int);
	int (*spin_lock)(pthread_spinlock_t *);
	int (*spin_trylock)(pthread_spinlock_t *);
	int (*spin_unlock)(pthread_spinlock_t *);
	int (*wait)(pthread_cond_t *, pthread_mutex_t *);
	int (*timedwait)(pthread_cond_t *, pthread_mutex_t *,
			 const struct timespec *);
	int (*signal)(pthread_cond_t *);
	int (*broadcast)(pthread_cond_t *);
	int (*rdlock)(pthread_rwlock_t *);
	int (*wrlock)(pthread_rwlock_t *);
	int (*rw_unlock)(pthread_rwlock_t *);
};

#define CALLS                                                                  \
	{                                                                      \
		.lock = pthread_mutex_lock, .trylock = pthread_mutex_trylock,  \
		.timedlock = pthread_mutex_timedlock,                          \
		.unlock = pthread_mutex_unlock,                                \
		.destroy = pthread_mutex_destroy,                              \
		.spin_init = pthread_spin_init,                                \
		.spin_lock = pthread_spin_lock,                                \
		.spin_trylock = pthread_spin_trylock,                          \
		.spin_unlock = pthread_spin_unlock, .wait = pthread_cond_wait, \
		.timedwait = pthread_cond_timedwait,                           \
		.signal = pthread_cond_signal,                                 \
		.broadcast = pthread_cond_broadcast,                           \
		.rdlock = pthread_rwlock_rdlock,                               \
		.wrlock = pthread_rwlock_wrlock,                               \
		.rw_unlock = pthread_rwlock_unlock,                            \
	}

#endif
