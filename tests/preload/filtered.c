/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A seccomp filter refuses the system calls that the interposer makes and plain glibc does
 * not: after the program has begun, and from its start. The locks work without them. A thread
 * that is to lock a mutex with an owner and has no id ends the process instead.
 */
#include "expect.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The linker needs files and memory, so these may be refused to a running program only. */
#define TO_RUNNING SYS_openat, SYS_newfstatat, SYS_fstat, SYS_gettid
#define ALWAYS                                                         \
	SYS_sched_yield, SYS_sched_getscheduler, SYS_sched_getparam,   \
		SYS_sched_getaffinity, SYS_sched_get_priority_min,     \
		SYS_sched_get_priority_max, SYS_nanosleep, SYS_getcpu, \
		SYS_madvise, SYS_rt_sigprocmask, SYS_getpid, SYS_tgkill

static const int to_running[] = { TO_RUNNING, ALWAYS };
static const int without_id_address[] = { SYS_prctl, ALWAYS };
static const int without_gettid[] = { SYS_gettid, ALWAYS };
static const int without_ids[] = { SYS_prctl, SYS_gettid };

static void refuse(const int *calls, int n, int why)
{
	struct sock_filter filter[64] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .filter = filter };
	int len = 1;

	for (int i = 0; i < n; i++) {
		filter[len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)calls[i], 0,
			1);
		filter[len++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)why);
	}
	filter[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						     SECCOMP_RET_ALLOW);
	program.len = (unsigned short)len;
	EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		dprintf(2, "this kernel has no seccomp filters\n");
		_exit(NOT_RUN);
	}
}

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static long turn, by_recursive, by_rw, by_spin;

#define ROUNDS 200

static void *body(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		RET(pthread_mutex_lock(&plain), 0);
		while (turn % 2 != (intptr_t)arg)
			RET(pthread_cond_wait(&cond, &plain), 0);
		turn++;
		RET(pthread_cond_broadcast(&cond), 0);
		RET(pthread_mutex_unlock(&plain), 0);
		RET(pthread_mutex_lock(&recursive), 0);
		RET(pthread_mutex_lock(&recursive), 0);
		by_recursive++;
		RET(pthread_mutex_unlock(&recursive), 0);
		RET(pthread_mutex_unlock(&recursive), 0);
		RET(pthread_rwlock_rdlock(&rw), 0);
		RET(pthread_rwlock_unlock(&rw), 0);
		RET(pthread_rwlock_wrlock(&rw), 0);
		by_rw++;
		RET(pthread_rwlock_unlock(&rw), 0);
		RET(pthread_spin_lock(&spin), 0);
		by_spin++;
		RET(pthread_spin_unlock(&spin), 0);
	}
	return NULL;
}

static void use(void)
{
	struct timespec past = { 1, 0 };

	turn = by_recursive = by_rw = by_spin = 0;
	run(2, body);
	EQ(turn, 2 * ROUNDS);
	EQ(by_recursive, 2 * ROUNDS);
	EQ(by_rw, 2 * ROUNDS);
	EQ(by_spin, 2 * ROUNDS);
	RET(pthread_mutex_lock(&recursive), 0);
	EQ(other_mutex(pthread_mutex_trylock, &recursive), EBUSY);
	RET(pthread_cond_timedwait(&cond, &recursive, &past), ETIMEDOUT);
	RET(pthread_mutex_unlock(&recursive), 0);
}

/* In a child of its own, and in a child of that. */
static void use_and_fork(void)
{
	pid_t pid;

	EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	use();
	pid = fork();
	if (!pid) {
		use();
		_exit(0);
	}
	reap(pid);
}

static void refuse_to_running(int why)
{
	pid_t pid = fork();

	if (!pid) {
		refuse(to_running, LEN(to_running), why);
		use_and_fork();
		_exit(0);
	}
	reap(pid);
}

/* Not SIGABRT always: abort() asks for the thread's id as well. */
#define BY_SIGNAL -1

/* The status of this program, started with the filter. */
static int refuse_from_start(const int *calls, int n, int why)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		refuse(calls, n, why);
		execl("/proc/self/exe", "filtered", "child", NULL);
		_exit(2);
	}
	EXPECT(pid > 0);
	EQ(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? BY_SIGNAL : status;
}

#define FROM_START(calls, why) \
	(STAGE(why), refuse_from_start(calls, LEN(calls), why))

int main(int argc, char **argv)
{
	static const int reasons[] = { EPERM, ENOSYS };

	(void)argv;
	if (argc > 1) {
		use_and_fork();
		return 0;
	}
	for (int i = 0; i < LEN(reasons); i++) {
		STAGE(reasons[i]);
		refuse_to_running(reasons[i]);
		EQ(FROM_START(without_id_address, reasons[i]), 0);
		EQ(FROM_START(without_gettid, reasons[i]), 0);
		EQ(FROM_START(without_ids, reasons[i]),
		   expect_lockwork() ? BY_SIGNAL : 0);
	}
	return 0;
}
