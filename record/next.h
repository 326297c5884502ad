/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_NEXT_H
#define REC_NEXT_H

/*
 * The next definitions of the functions that the recorder replaces. A condition variable
 * has an older twin under the same name, hence a version.
 */
#define REC_COND_VERSION "GLIBC_2.3.2"

/* The first eight are those of most calls, and share a cache line. */
/* clang-format off */
#define REC_NEXTS(X) \
	X(pthread_mutex_lock, NULL) \
	X(pthread_mutex_trylock, NULL) \
	X(pthread_mutex_unlock, NULL) \
	X(pthread_rwlock_rdlock, NULL) \
	X(pthread_rwlock_tryrdlock, NULL) \
	X(pthread_rwlock_wrlock, NULL) \
	X(pthread_rwlock_trywrlock, NULL) \
	X(pthread_rwlock_unlock, NULL) \
	X(pthread_mutex_init, NULL) \
	X(pthread_mutex_destroy, NULL) \
	X(pthread_mutex_timedlock, NULL) \
	X(pthread_mutex_clocklock, NULL) \
	X(pthread_cond_init, REC_COND_VERSION) \
	X(pthread_cond_destroy, REC_COND_VERSION) \
	X(pthread_cond_wait, REC_COND_VERSION) \
	X(pthread_cond_timedwait, REC_COND_VERSION) \
	X(pthread_cond_clockwait, NULL) \
	X(pthread_cond_signal, REC_COND_VERSION) \
	X(pthread_cond_broadcast, REC_COND_VERSION) \
	X(pthread_rwlock_init, NULL) \
	X(pthread_rwlock_destroy, NULL) \
	X(pthread_rwlock_timedrdlock, NULL) \
	X(pthread_rwlock_clockrdlock, NULL) \
	X(pthread_rwlock_timedwrlock, NULL) \
	X(pthread_rwlock_clockwrlock, NULL) \
	X(pthread_spin_init, NULL) \
	X(pthread_spin_lock, NULL) \
	X(pthread_spin_trylock, NULL) \
	X(pthread_spin_unlock, NULL) \
	X(syscall, NULL)
/* clang-format on */

enum rec_next {
#define X(name, version) REC_NEXT_##name,
	REC_NEXTS(X)
#undef X
		REC_NEXT_COUNT,
};

extern void *rec_nexts[REC_NEXT_COUNT] __attribute__((visibility("hidden")));

/* Looks all of them up, unless that is done. */
void rec_next_find(void);
/* A policy's library stands before the recorder: it has all calls, and the recorder none. */
bool rec_policy_is_in_front(void);
/* The same of what only a policy's interposer has. */
void rec_rwlock_prepare(void);
/* The next definition, also while they are looked up; ENOSYS if there is none. */
void *rec_next(enum rec_next which);

/* Once rec_thread() has returned a thread, all are known. */
#define NEXT(name) ((__typeof__(&name))READ_ONCE(rec_nexts[REC_NEXT_##name]))
/* At any time. */
#define PASS(name) ((__typeof__(&name))rec_next(REC_NEXT_##name))

#endif
