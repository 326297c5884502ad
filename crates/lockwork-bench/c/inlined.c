// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Uncontended pairs of lock and unlock in loops that are compiled together with
 * the lock, as in a program that includes its header. A lock without a loop
 * here is measured by calls through its table only.
 */
#include "mutex.h"
#include "qrwlock.h"
#include "qspinlock.h"
#include "rwsem.h"
#include "tas_lock.h"

struct bench_loop {
	const char *name; /* the lock's, in the catalogue */
	void (*pairs)(void *lock, u64 n);
	void (*read_pairs)(void *lock, u64 n); /* NULL: cannot be shared */
};

static void tas_pairs(void *lock, u64 n)
{
	for (; n; n--) {
		lk_tas_lock(lock);
		lk_tas_unlock(lock);
	}
}

static void qspin_fair_pairs(void *lock, u64 n)
{
	for (; n; n--) {
		lk_qspin_lock(lock, LK_QSPIN_ONLY_FAIR);
		lk_qspin_unlock(lock);
	}
}

static void qspin_steal_pairs(void *lock, u64 n)
{
	for (; n; n--) {
		lk_qspin_lock(lock, LK_QSPIN_STEAL);
		lk_qspin_unlock(lock);
	}
}

static void qrw_pairs(void *lock, u64 n)
{
	for (; n; n--) {
		lk_qrw_lock(lock);
		lk_qrw_unlock(lock);
	}
}

static void qrw_read_pairs(void *lock, u64 n)
{
	for (; n; n--) {
		lk_qrw_read_lock(lock);
		lk_qrw_read_unlock(lock);
	}
}

static void mutex_pairs(void *lock, u64 n)
{
	for (; n; n--) {
		lk_mutex_lock(lock);
		lk_mutex_unlock(lock);
	}
}

static void rwsem_pairs(void *lock, u64 n)
{
	for (; n; n--) {
		lk_rwsem_lock(lock);
		lk_rwsem_unlock(lock);
	}
}

static void rwsem_read_pairs(void *lock, u64 n)
{
	for (; n; n--) {
		lk_rwsem_read_lock(lock);
		lk_rwsem_read_unlock(lock);
	}
}

/* Ended by one without a name. */
extern const struct bench_loop bench_loops[];
const struct bench_loop bench_loops[] = {
	{ "tas_lock", tas_pairs, NULL },
	{ "qspinlock_fair", qspin_fair_pairs, NULL },
	{ "qspinlock_steal", qspin_steal_pairs, NULL },
	{ "qrwlock", qrw_pairs, qrw_read_pairs },
	{ "mutex", mutex_pairs, NULL },
	{ "rwsem", rwsem_pairs, rwsem_read_pairs },
	{ NULL, NULL, NULL },
};
