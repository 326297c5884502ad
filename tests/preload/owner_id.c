/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Recursive and error-checking mutexes know their owner by its thread id: in threads,
 * and in children, whatever made them. glibc takes a child that it did not make for its
 * parent.
 */
#include "expect.h"

#include <sys/syscall.h>

static pthread_mutex_t parents = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;

static void own(pthread_mutex_t *m, int again)
{
	RET(pthread_mutex_lock(m), 0);
	EQ(m->__data.__owner, (int)syscall(SYS_gettid));
	RET(pthread_mutex_lock(m), again);
	if (!again)
		RET(pthread_mutex_unlock(m), 0);
	RET(pthread_mutex_unlock(m), 0);
	EQ(m->__data.__owner, 0);
}

static void *use(void *arg)
{
	pthread_mutex_t recursive, checking;

	mutex_of_type(&recursive, PTHREAD_MUTEX_RECURSIVE);
	mutex_of_type(&checking, PTHREAD_MUTEX_ERRORCHECK);
	own(&recursive, 0);
	own(&checking, EDEADLK);
	return arg;
}

/* Nobody here has locked what the parent holds. */
static void *look(void *arg)
{
	RET(pthread_mutex_unlock(&parents), EPERM);
	RET(pthread_mutex_trylock(&parents), EBUSY);
	RET(pthread_rwlock_trywrlock(&written), EBUSY);
	return use(arg);
}

static pid_t by_fork(void)
{
	return fork();
}

/* Runs no handlers. */
static pid_t by_Fork(void)
{
	return _Fork();
}

/* glibc does not know of it. */
static pid_t by_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t (*const ways[])(void) = { by_fork, by_Fork, by_clone };

static void in_children(void)
{
	for (int i = 0; i < LEN(ways); i++) {
		pid_t pid;

		if (ways[i] == by_clone && !expect_lockwork())
			continue;
		STAGE(i);
		pid = ways[i]();
		if (!pid) {
			look(NULL);
			run(1, look);
			_exit(0);
		}
		reap(pid);
	}
}

/* The child's first lock may be the thread's first. */
static void *fork_first(void *arg)
{
	in_children();
	use(NULL);
	in_children();
	return arg;
}

int main(void)
{
	RET(pthread_mutex_lock(&parents), 0);
	RET(pthread_rwlock_wrlock(&written), 0);
	run(1, fork_first);
	run(4, use);
	RET(pthread_rwlock_unlock(&written), 0);
	RET(pthread_mutex_unlock(&parents), 0);
	use(NULL);
	return 0;
}
