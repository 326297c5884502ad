/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls on free objects after a fork, in strict seccomp mode: a system call other than
 * read, write and exit kills the child. They are made in the thread that has forked, in
 * one that is new in the child, and in a new one of a process that has not forked.
 */
#include "expect.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;

static int use_mutex(pthread_mutex_t *m)
{
	return pthread_mutex_lock(m) || pthread_mutex_unlock(m) ||
	       pthread_mutex_trylock(m) || pthread_mutex_unlock(m);
}

static int use_plain(void)
{
	return use_mutex(&plain);
}

static int use_adaptive(void)
{
	return use_mutex(&adaptive);
}

static int use_recursive(void)
{
	return use_mutex(&recursive);
}

static int use_checking(void)
{
	return use_mutex(&checking);
}

static int read_rwlock(void)
{
	return pthread_rwlock_rdlock(&rw) || pthread_rwlock_unlock(&rw) ||
	       pthread_rwlock_tryrdlock(&rw) || pthread_rwlock_unlock(&rw);
}

static int write_rwlock(void)
{
	return pthread_rwlock_wrlock(&rw) || pthread_rwlock_unlock(&rw) ||
	       pthread_rwlock_trywrlock(&rw) || pthread_rwlock_unlock(&rw);
}

static int make_rwlock(void)
{
	pthread_rwlock_t own;

	return pthread_rwlock_init(&own, NULL) || pthread_rwlock_destroy(&own);
}

static int use_cond(void)
{
	return pthread_cond_signal(&cond) || pthread_cond_broadcast(&cond) ||
	       pthread_cond_destroy(&cond);
}

static int make_cond(void)
{
	pthread_cond_t own;

	return pthread_cond_init(&own, NULL) || pthread_cond_signal(&own) ||
	       pthread_cond_destroy(&own);
}

static int use_spin(void)
{
	return pthread_spin_lock(&spin) || pthread_spin_unlock(&spin) ||
	       pthread_spin_trylock(&spin) || pthread_spin_unlock(&spin);
}

static int (*used)(void);
static atomic_int result;

/* The mode is the thread's. As it kills the thread alone, so only a result counts. */
static void *new_thread(void *arg)
{
	(void)arg;
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	atomic_store(&result, used());
	syscall(SYS_exit, 0);
	return NULL;
}

static int in_thread(int (*use)(void))
{
	pthread_t thread;

	used = use;
	atomic_store(&result, -1);
	EQ(pthread_create(&thread, NULL, new_thread, NULL), 0);
	EQ(pthread_join(thread, NULL), 0);
	return atomic_load(&result);
}

static void in_child(int (*use)(void), bool threads, int line)
{
	int status;
	pid_t pid = fork();

	if (!pid && threads)
		_exit(in_thread(use) != 0);
	if (!pid) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		syscall(SYS_exit, use());
	}
	STAGE(line);
	EXPECT(pid > 0);
	EQ(waitpid(pid, &status, 0), pid);
	expect_eq(__FILE__, line, "status of the child", status, 0);
}

#define IN_CHILD(use) in_child(use, threads, __LINE__)

static void in_children(bool threads)
{
	IN_CHILD(use_plain);
	IN_CHILD(use_adaptive);
	IN_CHILD(use_recursive);
	IN_CHILD(use_checking);
	IN_CHILD(read_rwlock);
	IN_CHILD(write_rwlock);
	IN_CHILD(make_rwlock);
	IN_CHILD(use_cond);
	IN_CHILD(make_cond);
	IN_CHILD(use_spin);
}

int main(void)
{
	EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	in_children(false);
	in_children(true);
	EQ(in_thread(use_recursive), 0);
	EQ(in_thread(use_checking), 0);
	EQ(in_thread(write_rwlock), 0);
	return 0;
}
