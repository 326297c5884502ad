/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The read/write lock that sleeps: deadlines, nested reads, downgrades, forks. */
#define _GNU_SOURCE
#include "expect.h"

#include "../asleep.h"

#include <platform.h>
#include <rwsem.h>

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static lw_rwlock_t rw = LW_RWLOCK_INIT;
static bool got_it;

static struct timespec in_20_ms(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 20000000; /* may be more than a second: allowed */
	return until;
}

static bool is_over(const struct timespec *time)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - time->tv_sec) * 1000000000ll + now.tv_nsec >=
	       time->tv_nsec;
}

static void *write_in_vain(void *unused)
{
	struct timespec until = in_20_ms();

	errno = 77;
	EXPECT(!lw_write_trylock(&rw));
	EXPECT(!lw_write_timedlock(&rw, &until));
	EXPECT(is_over(&until) && errno == 77);
	return unused;
}

static void *read_in_vain(void *unused)
{
	struct timespec until = in_20_ms();

	errno = 77;
	EXPECT(!lw_read_trylock(&rw) && !lw_read_trylock_nested(&rw));
	EXPECT(!lw_read_timedlock(&rw, &until));
	EXPECT(is_over(&until) && errno == 77);
	return write_in_vain(unused);
}

static void *read_beside(void *unused)
{
	struct timespec past = { 0, 0 };

	EXPECT(lw_read_trylock(&rw));
	lw_read_unlock(&rw);
	EXPECT(lw_read_timedlock(&rw, &past)); /* free to readers: never late */
	lw_read_unlock(&rw);
	lw_read_lock(&rw);
	lw_read_unlock(&rw);
	return write_in_vain(unused);
}

static int writer_tid;

static void *write_at_last(void *unused)
{
	WRITE_ONCE(writer_tid, (int)syscall(SYS_gettid));
	lw_write_lock(&rw);
	WRITE_ONCE(got_it, true);
	lw_write_unlock(&rw);
	return unused;
}

static pthread_t start(void *(*body)(void *))
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, body, NULL));
	return thread;
}

static void run(void *(*body)(void *))
{
	pthread_join(start(body), NULL);
}

/* A writer waits, and a read lock inside a read lock does not wait for it. */
static void test_nested(void)
{
	pthread_t writer;
	int i;

	lw_read_lock(&rw);
	writer = start(write_at_last);
	for (i = 0; i < 100; i++) {
		usleep(100);
		lw_read_lock_nested(&rw);
		EXPECT(lw_read_trylock_nested(&rw));
		lw_read_unlock(&rw);
		lw_read_unlock(&rw);
	}
	/* With the plain call that wait ends as well, if not at once. */
	lw_read_lock(&rw);
	lw_read_unlock(&rw);
	EXPECT(!READ_ONCE(got_it));
	lw_read_unlock(&rw);
	pthread_join(writer, NULL);
	EXPECT(got_it);
}

/* Forks while @how is held and a writer waits; the child has no such writer. */
static void test_fork_of(void (*unlock)(lw_rwlock_t *))
{
	pthread_t writer;
	int status;
	pid_t pid;

	WRITE_ONCE(writer_tid, 0);
	writer = start(write_at_last);
	while (!is_asleep(READ_ONCE(writer_tid)))
		usleep(1000);
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		unlock(&rw);
		lw_write_lock(&rw);
		lw_write_downgrade(&rw);
		lw_read_unlock(&rw);
		_exit(lw_write_trylock(&rw) ? 0 : 1);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	unlock(&rw);
	pthread_join(writer, NULL);
}

/*
 * A try takes what is free, though the lock is promised to a thread that may be stopped; what
 * others read only if it is not.
 */
static void test_try_promised(void)
{
	struct lk_rwsem s = LK_RWSEM_INIT;
	u32 promised = LK_RWSEM_QUEUED | LK_RWSEM_HANDOFF;

	atomic_set(&s.word, (int)promised);
	EXPECT(lk_rwsem_try_read(&s, LK_READER_PASSES));
	EXPECT((u32)atomic_read(&s.word) == promised + LK_RWSEM_READER);
	EXPECT(!lk_rwsem_try_read(&s, LK_READER_PASSES));
	EXPECT(lk_rwsem_try_read(&s, LK_READER_NESTS));
	atomic_set(&s.word, (int)promised);
	EXPECT(!lk_rwsem_try_read(&s, LK_READER_QUEUES));
	EXPECT(lk_rwsem_try_write(&s));
}

void test_rwlock(void)
{
	struct timespec past = { 0, 0 };

	lw_write_lock(&rw);
	run(read_in_vain);
	lw_write_downgrade(&rw);
	run(read_beside);
	lw_read_unlock(&rw);
	EXPECT(lw_write_timedlock(&rw, &past)); /* free: no matter how late */
	lw_write_unlock(&rw);
	test_nested();
	test_try_promised();
	lw_read_lock(&rw);
	test_fork_of(lw_read_unlock);
	lw_write_lock(&rw);
	test_fork_of(lw_write_unlock);
}
