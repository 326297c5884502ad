/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PRE_WATCH_H
#define PRE_WATCH_H

/*
 * What a recorder that is loaded before the interposer cannot see, and is told: the calling
 * thread has waited for a condition variable, and now takes @m back. @moved: a broadcast has
 * moved it to the mutex's waiters, so it has waited for the mutex since.
 */
#include <pthread.h>
#include <stdbool.h>

typedef void pre_takes_back_fn(pthread_mutex_t *m, bool moved);
/* The recorder finds this by dlsym(), and sets it before there are threads; NULL: nobody listens. */
extern pre_takes_back_fn *pre_takes_back;

/*
 * What a recorder calls before it lets a thread wait in rdlock(): that call, but it returns EBUSY
 * where it would wait. tryrdlock() is not that: it passes writers that rdlock() waits behind.
 */
int pre_read_at_once(pthread_rwlock_t *l);

#endif
