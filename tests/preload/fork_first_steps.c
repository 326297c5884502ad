/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A fork while another thread is in the midst of the process's first slow path:
 * at each system call of it.  What that thread was making for all, the child
 * must not wait for.
 */
#include "../../platform/preload/syscall.h"
#include "expect.h"

#include <link.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <ucontext.h>

enum { STEPS = 16, THREADS = 3, ROUNDS = 200 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long counter;

/* -- the first waiter, and where it stops ---------------------------------- */

static int calls_left;
static atomic_int there, forked;

static void stop_here(void)
{
	there = 1;
	while (!forked)
		sched_yield();
}

/* BLOCK: of this thread's system calls the kernel makes those of libc's code alone. */
static __thread char filter = SYSCALL_DISPATCH_FILTER_ALLOW;

/* A system call of the interposer's own, of which the kernel has sent a SIGSYS instead. */
static void make_call(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig;
	filter = SYSCALL_DISPATCH_FILTER_ALLOW;
	if (calls_left-- == 0)
		stop_here();
	regs[REG_RAX] = host_syscall(info->si_syscall, regs[REG_RDI],
				     regs[REG_RSI], regs[REG_RDX],
				     regs[REG_R10], regs[REG_R8], regs[REG_R9]);
	filter = SYSCALL_DISPATCH_FILTER_BLOCK;
}

struct range {
	uintptr_t start, size;
};

/* The code of the object that has sched_yield(). */
static int find_libc(struct dl_phdr_info *object, size_t size, void *range)
{
	uintptr_t inside = (uintptr_t)sched_yield;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && inside - start < part->p_memsz) {
			*(struct range *)range =
				(struct range){ start, part->p_memsz };
			return 1;
		}
	}
	return 0;
}

/* From here on the calling thread's system calls are counted, but for those of libc. */
static void watch(void)
{
	struct sigaction act = { .sa_sigaction = make_call,
				 .sa_flags = SA_SIGINFO };
	struct range libc;

	EQ(sigaction(SIGSYS, &act, NULL), 0);
	EQ(dl_iterate_phdr(find_libc, &libc), 1);
	EQ(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, libc.start,
		 libc.size, &filter),
	   0);
	filter = SYSCALL_DISPATCH_FILTER_BLOCK;
}

enum { MUTEX, WRITE, READ, SPIN, KINDS };

/* The parent holds what it waits for. */
static void *first_waiter(void *kind)
{
	if (expect_lockwork())
		watch();
	else
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
	filter = SYSCALL_DISPATCH_FILTER_ALLOW;
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
		EXPECT(i < 100000); /* else it makes no system call */
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
