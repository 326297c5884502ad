/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the pthread tests share.  A program exits 0 when every expectation held; the
 * first one that did not prints its place, what was wanted and what was seen,
 * and ends the process with 1.
 *
 * Everything here must hold on plain glibc.  What only Lockwork promises is
 * asked for where expect_lockwork() says so.  Nothing bounds a time from
 * above: a lost wake-up is a hang, and the runner's watchdog finds it.  On
 * SIGQUIT a program says at which STAGE it stood.
 */
#ifndef LOCKWORK_TESTS_PRELOAD_EXPECT_H
#define LOCKWORK_TESTS_PRELOAD_EXPECT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../asleep.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEN(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The value errno has before every call of RET(), and must have after it. */
#define KEPT 4242

static inline void expect_eq(const char *file, int line, const char *what,
			     long long seen, long long want)
{
	if (seen == want)
		return;
	dprintf(2, "%s:%d: %s: expected %lld, saw %lld\n", file, line, what,
		want, seen);
	_exit(1);
}

#define EQ(expr, want) expect_eq(__FILE__, __LINE__, #expr, (expr), (want))
#define EXPECT(expr)   expect_eq(__FILE__, __LINE__, #expr, !!(expr), 1)

/* The call returns `want` and leaves errno alone. */
#define RET(call, want)                                                     \
	do {                                                                \
		int ret_, errno_;                                           \
		errno = KEPT;                                               \
		ret_ = (call);                                              \
		errno_ = errno;                                             \
		expect_eq(__FILE__, __LINE__, #call, ret_, (want));         \
		expect_eq(__FILE__, __LINE__, "errno after " #call, errno_, \
			  KEPT);                                            \
	} while (0)

static const char *volatile stage_file;
static volatile int stage_line;
static volatile long stage_round;

#define STAGE(round) \
	(stage_file = __FILE__, stage_line = __LINE__, stage_round = (round))

static inline void stage_report(int sig)
{
	(void)sig;
	dprintf(2, "stood at %s:%d, round %ld\n", stage_file ? stage_file : "?",
		stage_line, stage_round);
}

/* A plugin says PLUGIN first: the handler must not go away with it. */
#ifndef PLUGIN
__attribute__((constructor)) static inline void stage_install(void)
{
	signal(SIGQUIT, stage_report);
}
#endif

/* The status of a program that this user or this kernel does not let run. */
#define NOT_RUN 77

static inline int expect_lockwork(void)
{
	const char *value = getenv("LOCKWORK_EXPECT");

	return value && !strcmp(value, "1");
}

/* The name of the object file that a call of `symbol` ends up in. */
static inline const char *origin_of(const char *symbol)
{
	void *address = dlsym(RTLD_DEFAULT, symbol);
	const char *slash;
	Dl_info info;

	EXPECT(address);
	EXPECT(dladdr(address, &info));
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/* ---- time ---- */

static inline void nap_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };
	int saved = errno;

	while (nanosleep(&t, &t))
		;
	errno = saved;
}

/* The deadline `ms` from now; ms may be negative. */
static inline struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec t;
	long long ns;

	clock_gettime(clock, &t);
	ns = t.tv_sec * 1000000000LL + t.tv_nsec + ms * 1000000LL;
	t.tv_sec = ns / 1000000000;
	t.tv_nsec = ns % 1000000000;
	return t;
}

static inline int reached(clockid_t clock, struct timespec deadline)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec > deadline.tv_sec ||
	       (now.tv_sec == deadline.tv_sec &&
		now.tv_nsec >= deadline.tv_nsec);
}

/* ---- threads ---- */

/* Each body gets its number, from 0, as its argument. */
static inline void start(pthread_t *threads, int n, void *(*body)(void *))
{
	for (intptr_t i = 0; i < n; i++)
		EQ(pthread_create(&threads[i], NULL, body, (void *)i), 0);
}

static inline void finish(pthread_t *threads, int n)
{
	for (int i = 0; i < n; i++)
		EQ(pthread_join(threads[i], NULL), 0);
}

static inline void run(int n, void *(*body)(void *))
{
	pthread_t threads[n];

	start(threads, n, body);
	finish(threads, n);
}

/* Until the thread that writes its id to *@tid is asleep in the kernel. */
static inline void wait_asleep(atomic_int *tid)
{
	while (!is_asleep(atomic_load(tid)))
		sched_yield();
}

/*
 * The same for one that waits for a mutex. Where the policy's waiters spin nobody can see
 * that it waits: then some time after it has written its id.
 */
static inline void wait_for_waiter(atomic_int *tid)
{
	const char *policy = getenv("LOCKWORK_LOCK");

	if (!policy || strncmp(policy, "qspinlock", 9)) {
		wait_asleep(tid);
		return;
	}
	while (!atomic_load(tid))
		sched_yield();
	nap_us(50000);
}

struct elsewhere {
	int (*mutex_op)(pthread_mutex_t *);
	int (*rwlock_op)(pthread_rwlock_t *);
	void *object;
	int ret, err;
};

static inline void *elsewhere_body(void *arg)
{
	struct elsewhere *e = arg;

	errno = KEPT;
	e->ret = e->mutex_op ? e->mutex_op(e->object) : e->rwlock_op(e->object);
	e->err = errno;
	return NULL;
}

static inline int elsewhere(struct elsewhere e)
{
	pthread_t thread;

	EQ(pthread_create(&thread, NULL, elsewhere_body, &e), 0);
	EQ(pthread_join(thread, NULL), 0);
	EQ(e.err, KEPT);
	return e.ret;
}

/* What a call returns when another thread makes it. */
static inline int other_mutex(int (*op)(pthread_mutex_t *), pthread_mutex_t *m)
{
	return elsewhere((struct elsewhere){ .mutex_op = op, .object = m });
}

static inline int other_rwlock(int (*op)(pthread_rwlock_t *),
			       pthread_rwlock_t *l)
{
	return elsewhere((struct elsewhere){ .rwlock_op = op, .object = l });
}

/* ---- objects and processes ---- */

static inline void mutex_of_type(pthread_mutex_t *m, int type)
{
	pthread_mutexattr_t attr;

	EQ(pthread_mutexattr_init(&attr), 0);
	EQ(pthread_mutexattr_settype(&attr, type), 0);
	RET(pthread_mutex_init(m, &attr), 0);
	EQ(pthread_mutexattr_destroy(&attr), 0);
}

static inline void *map_pages(size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       flags | MAP_ANONYMOUS, -1, 0);

	EXPECT(p != MAP_FAILED);
	return p;
}

/* From now on whoever touches the page faults; its address is not used again. */
static inline void take_away(void *page)
{
	EXPECT(mmap(page, 4096, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page);
}

/* All expectations of the child held. */
static inline void reap(pid_t pid)
{
	int status = 0;

	EXPECT(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		EQ(errno, EINTR);
	EQ(status, 0);
}

#endif
