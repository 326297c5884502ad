/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What each kind of mutex answers to its owner, to others, and when free. */
#include "expect.h"

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

/* Held by the caller: others are shut out, and it cannot be destroyed. */
static void expect_held(pthread_mutex_t *m)
{
	EQ(other_mutex(pthread_mutex_trylock, m), EBUSY);
	RET(pthread_mutex_destroy(m), EBUSY);
	EQ(other_mutex(pthread_mutex_destroy, m), EBUSY);
}

static void expect_free(pthread_mutex_t *m)
{
	RET(pthread_mutex_trylock(m), 0);
	RET(pthread_mutex_unlock(m), 0);
	RET(pthread_mutex_lock(m), 0);
	expect_held(m);
	RET(pthread_mutex_unlock(m), 0);
}

/* NORMAL and ADAPTIVE have no owner: anyone may unlock. */
static void test_ownerless(pthread_mutex_t *m)
{
	expect_free(m);
	RET(pthread_mutex_lock(m), 0);
	RET(pthread_mutex_trylock(m), EBUSY);
	EQ(other_mutex(pthread_mutex_unlock, m), 0);
	expect_free(m);
	EQ(other_mutex(pthread_mutex_lock, m), 0);
	RET(pthread_mutex_trylock(m), EBUSY);
	RET(pthread_mutex_unlock(m), 0);
	expect_free(m);
}

static void test_errorcheck(pthread_mutex_t *m)
{
	RET(pthread_mutex_unlock(m), EPERM);
	expect_free(m);
	RET(pthread_mutex_lock(m), 0);
	RET(pthread_mutex_lock(m), EDEADLK);
	RET(pthread_mutex_trylock(m), EBUSY);
	EQ(other_mutex(pthread_mutex_unlock, m), EPERM);
	expect_held(m);
	RET(pthread_mutex_unlock(m), 0);
	RET(pthread_mutex_unlock(m), EPERM);
	expect_free(m);
	RET(pthread_mutex_trylock(m), 0);
	RET(pthread_mutex_lock(m), EDEADLK);
	RET(pthread_mutex_unlock(m), 0);
}

static void test_recursive(pthread_mutex_t *m)
{
	RET(pthread_mutex_unlock(m), EPERM);
	expect_free(m);
	for (int i = 0; i < 500; i++) {
		RET(pthread_mutex_lock(m), 0);
		RET(pthread_mutex_trylock(m), 0);
	}
	for (int i = 0; i < 1000; i++) {
		if (i % 100 == 0) {
			EQ(other_mutex(pthread_mutex_unlock, m), EPERM);
			expect_held(m);
		}
		RET(pthread_mutex_unlock(m), 0);
	}
	RET(pthread_mutex_unlock(m), EPERM);
	EQ(other_mutex(pthread_mutex_unlock, m), EPERM);
	expect_free(m);
}

/* A destroyed mutex refuses, and may be initialised again. */
static void test_destroy(pthread_mutex_t *m)
{
	RET(pthread_mutex_destroy(m), 0);
	RET(pthread_mutex_lock(m), EINVAL);
	RET(pthread_mutex_trylock(m), EINVAL);
	RET(pthread_mutex_unlock(m), EINVAL);
	RET(pthread_mutex_init(m, NULL), 0);
	test_ownerless(m);
	RET(pthread_mutex_destroy(m), 0);
}

/* Functions of libc that look into the object and are not a lock's own. */
static void test_neighbours(pthread_mutex_t *m)
{
	int ceiling;

	EQ(pthread_mutex_getprioceiling(m, &ceiling), EINVAL);
	EQ(pthread_mutex_setprioceiling(m, 1, &ceiling), EINVAL);
	EQ(pthread_mutex_consistent(m), EINVAL);
	expect_free(m);
}

static void all(pthread_mutex_t *n, pthread_mutex_t *r, pthread_mutex_t *e,
		pthread_mutex_t *a)
{
	test_neighbours(n);
	test_neighbours(r);
	test_ownerless(n);
	test_ownerless(a);
	test_errorcheck(e);
	test_recursive(r);
	test_destroy(n);
	test_destroy(r);
	test_destroy(e);
	test_destroy(a);
}

int main(void)
{
	pthread_mutex_t m[5];

	all(&normal, &recursive, &errorcheck, &adaptive);

	/* Made by a call, on memory that holds rubbish. */
	memset(m, 0xa5, sizeof(m));
	mutex_of_type(&m[0], PTHREAD_MUTEX_NORMAL);
	mutex_of_type(&m[1], PTHREAD_MUTEX_RECURSIVE);
	mutex_of_type(&m[2], PTHREAD_MUTEX_ERRORCHECK);
	mutex_of_type(&m[3], PTHREAD_MUTEX_ADAPTIVE_NP);
	mutex_of_type(&m[4], PTHREAD_MUTEX_DEFAULT);
	test_ownerless(&m[4]);
	all(&m[0], &m[1], &m[2], &m[3]);

	/* glibc forgives the unlock of a NORMAL mutex that is free. */
	RET(pthread_mutex_init(&m[0], NULL), 0);
	RET(pthread_mutex_unlock(&m[0]), 0);
	RET(pthread_mutex_lock(&m[0]), 0);
	RET(pthread_mutex_trylock(&m[0]), EBUSY);
	EQ(other_mutex(pthread_mutex_trylock, &m[0]), EBUSY);
	RET(pthread_mutex_unlock(&m[0]), 0);
	return 0;
}
