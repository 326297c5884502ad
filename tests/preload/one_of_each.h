/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One of each, and what a thread does to wait for it: one call for each way. */
#ifndef LOCKWORK_TESTS_PRELOAD_ONE_OF_EACH_H
#define LOCKWORK_TESTS_PRELOAD_ONE_OF_EACH_H

#include "expect.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
/* Whoever uses it makes it: there is no initial value. */
static pthread_spinlock_t spin;
static int tokens;

static inline void lock(void)
{
	RET(pthread_mutex_lock(&mutex), 0);
}

static inline void unlock(void)
{
	RET(pthread_mutex_unlock(&mutex), 0);
}

static inline void wrlock(void)
{
	RET(pthread_rwlock_wrlock(&rw), 0);
}

static inline void rdlock(void)
{
	RET(pthread_rwlock_rdlock(&rw), 0);
}

static inline void rwunlock(void)
{
	RET(pthread_rwlock_unlock(&rw), 0);
}

static inline void spin_lock(void)
{
	RET(pthread_spin_lock(&spin), 0);
}

static inline void spin_unlock(void)
{
	RET(pthread_spin_unlock(&spin), 0);
}

/* Under the mutex, once somebody has put one there. */
static inline void take_token(void)
{
	lock();
	while (!tokens)
		RET(pthread_cond_wait(&cond, &mutex), 0);
	tokens--;
}

#endif
