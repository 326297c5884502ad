/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A fork while another thread is in the midst of the process's first slow path:
 * at each system call of it.  What that thread was making for all, the child
 * must not wait for.
 */
#include "expect.h"
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>

enum { STEPS = 16, THREADS = 3, ROUNDS = 200 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long counter;

/* -- the first waiter, and where it stops ---------------------------------- */

static __thread int watched;
static int calls_left;
static atomic_int there, forked;

static void stop_here(void)
{
	there = 1;
	while (!forked)
		sched_yield();
}

/* Instead of libc's, for whoever calls it by name: the interposer does. */
long syscall(long nr, ...)
{
	register long r10 __asm__("r10"), r8 __asm__("r8"), r9 __asm__("r9");
	long a, b, c, ret;
	va_list args;

	if (watched && calls_left-- == 0)
		stop_here();
	va_start(args, nr);
	a = va_arg(args, long);
	b = va_arg(args, long);
	c = va_arg(args, long);
	r10 = va_arg(args, long);
	r8 = va_arg(args, long);
	r9 = va_arg(args, long);
	va_end(args);
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	if ((unsigned long)ret > -4096ul) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

enum { MUTEX, WRITE, READ, SPIN, KINDS };

/* The parent holds what it waits for. */
static void *first_waiter(void *kind)
{
	watched = expect_lockwork();
	if (!watched)
		there = 1;
	switch ((intptr_t)kind) {
	case MUTEX:
		RET(pthread_mutex_lock(&m), 0);
		RET(pthread_mutex_unlock(&m), 0);
		break;
	case WRITE:
		RET(pthread_rwlock_wrlock(&rw), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
		break;
	case READ:
		RET(pthread_rwlock_rdlock(&rw), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
		break;
	default:
		RET(pthread_spin_lock(&spin), 0);
		RET(pthread_spin_unlock(&spin), 0);
	}
	watched = 0;
	return NULL;
}

/* To take a read/write lock is more than a fast path: it would do what the first
 * waiter is to be stopped in. So the parent takes it only to be waited for. */
static void hold(bool rwlock)
{
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_spin_lock(&spin), 0);
	if (rwlock)
		RET(pthread_rwlock_wrlock(&rw), 0);
}

static void let_go(bool rwlock)
{
	if (rwlock)
		RET(pthread_rwlock_unlock(&rw), 0);
	RET(pthread_spin_unlock(&spin), 0);
	RET(pthread_mutex_unlock(&m), 0);
}

/* -- the child ------------------------------------------------------------- */

static void *body(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		hold(true);
		counter++;
		if (i % 50 == 0)
			sched_yield(); /* let the others come upon it */
		let_go(true);
	}
	return arg;
}

/* The one thread that there is goes on with what it holds. */
static void child(bool rwlock)
{
	pthread_t threads[THREADS];

	alarm(300); /* to be found by its status rather than as a hang */
	start(threads, THREADS, body);
	nap_us(1000);
	if (rwlock && !expect_lockwork()) {
		/* glibc's may have a writer that is gone. */
		RET(pthread_rwlock_init(&rw, NULL), 0);
		rwlock = false;
	}
	let_go(rwlock);
	finish(threads, THREADS);
	EQ(counter, THREADS * ROUNDS);
}

/* A process whose first waiter makes @calls system calls before the fork. */
static void process(intptr_t kind, int calls)
{
	bool rwlock = kind == WRITE || kind == READ;
	pthread_t waiter;
	pid_t pid;

	calls_left = calls;
	RET(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	hold(rwlock);
	EQ(pthread_create(&waiter, NULL, first_waiter, (void *)kind), 0);
	for (long i = 0; !there; i++) {
		EXPECT(i < 100000); /* else its system calls are not by name */
		nap_us(100);
	}
	pid = fork();
	if (!pid) {
		child(rwlock);
		_exit(0);
	}
	forked = 1;
	let_go(rwlock);
	finish(&waiter, 1);
	reap(pid);
}

/* To name an unknown knob takes system calls too. Settings hold from the start of a
 * program, so that this starts it anew. */
static void with_an_unknown_knob(char **argv)
{
	const char *knobs = getenv("LOCKWORK_SET");
	char more[1000];

	if (knobs && strstr(knobs, "no_such_knob"))
		return;
	snprintf(more, sizeof(more), "%s%sno_such_knob=1", knobs ? knobs : "",
		 knobs && *knobs ? "," : "");
	EQ(setenv("LOCKWORK_SET", more, 1), 0);
	execv("/proc/self/exe", argv);
	EXPECT(!"execv");
}

int main(int argc, char **argv)
{
	(void)argc;
	with_an_unknown_knob(argv);
	for (int i = 0; i < KINDS * STEPS; i++) {
		pid_t pid;

		STAGE(i);
		pid = fork();
		if (!pid) {
			process(i / STEPS, i % STEPS);
			_exit(0);
		}
		reap(pid);
	}
	return 0;
}
