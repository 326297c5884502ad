/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A real-time thread never yields: under SCHED_FIFO nobody of lower priority would run,
 * and under SCHED_DEADLINE it would lose the rest of its period. Here a filter refuses
 * it. The thread has used the locks before, while it was an ordinary one, and may go by
 * that for another millisecond.
 */
#include "one_of_each.h"

#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* struct sched_attr, which older headers do not have. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static sem_t held, taken, over, ended;
static atomic_int tid, err;

static const struct way {
	void (*take)(void), (*give)(void);
	void (*hold)(void); /* what keeps others from it */
	bool ours;
} ways[] = {
	{ lock, unlock, lock, false },
	{ wrlock, rwunlock, rdlock, false },
	{ rdlock, rwunlock, wrlock, false },
	/* A thread that waits for one in glibc does not sleep. */
	{ spin_lock, spin_unlock, spin_lock, true },
};

static void yielded(int sig)
{
	(void)sig;
	dprintf(2, "stood at %d: a real-time thread yields\n", stage_line);
	_exit(1);
}

/* From now on this thread gets SIGSYS when it yields. */
static void refuse_yields(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { LEN(filter), filter };

	EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* 0, or why not. */
static int become(int policy)
{
	struct attr attr = { .size = sizeof(attr), .policy = policy };

	if (policy == SCHED_DEADLINE) {
		attr.runtime = 2000000;
		attr.deadline = attr.period = 20000000;
	} else {
		attr.priority = 20;
	}
	return syscall(SYS_sched_setattr, 0, &attr, 0) ? errno : 0;
}

static void wait_sem(sem_t *sem)
{
	while (sem_wait(sem))
		EQ(errno, EINTR);
}

/* The real-time thread's part, and the main thread's. */
static void wait_for_main(const struct way *way)
{
	wait_sem(&held);
	atomic_store(&tid, (int)syscall(SYS_gettid));
	way->take();
	atomic_store(&tid, 0);
	way->give();
	EQ(sem_post(&over), 0);
}

/* Holds until the other one sleeps; one that is not real-time may spin instead. */
static void hold(const struct way *way, bool real)
{
	way->hold();
	EQ(sem_post(&held), 0);
	if (real)
		wait_asleep(&tid);
	else
		nap_us(2000);
	way->give();
	wait_sem(&over);
}

/* The main thread waits for so long that an unlock would let it run. */
static void be_waited_for(const struct way *way)
{
	way->take();
	EQ(sem_post(&taken), 0);
	nap_us(10000);
	way->give();
	EQ(sem_post(&over), 0);
}

static void wait_here(const struct way *way)
{
	wait_sem(&taken);
	way->take();
	way->give();
	wait_sem(&over);
}

/* The same steps in both threads. */
static void each_way(void (*act)(const struct way *, int step, bool real),
		     bool real)
{
	for (int i = 0; i < LEN(ways); i++) {
		STAGE(i);
		for (int n = 0; n < 8; n++) {
			if (!ways[i].ours || expect_lockwork())
				act(&ways[i], n, real);
		}
	}
}

static void realtime_step(const struct way *way, int n, bool real)
{
	if (real && n % 2)
		be_waited_for(way);
	else
		wait_for_main(way);
}

static void main_step(const struct way *way, int n, bool real)
{
	if (real && n % 2)
		wait_here(way);
	else
		hold(way, real);
}

static void *realtime(void *arg)
{
	each_way(realtime_step, false);
	err = become((int)(intptr_t)arg);
	EQ(sem_post(&ended), 0);
	if (err)
		return NULL;
	nap_us(3000);
	refuse_yields();
	each_way(realtime_step, true);
	return NULL;
}

/* 0, or why there are no threads of that policy here. */
static int with(int policy)
{
	pthread_t thread;

	EQ(pthread_create(&thread, NULL, realtime, (void *)(intptr_t)policy),
	   0);
	each_way(main_step, false);
	wait_sem(&ended);
	if (!err)
		each_way(main_step, true);
	EQ(pthread_join(thread, NULL), 0);
	return err;
}

int main(void)
{
	int fifo, deadline;

	EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	EQ(sem_init(&held, 0, 0) | sem_init(&taken, 0, 0) |
		   sem_init(&over, 0, 0) | sem_init(&ended, 0, 0),
	   0);
	signal(SIGSYS, yielded);
	fifo = with(SCHED_FIFO);
	deadline = with(SCHED_DEADLINE);
	if (fifo || deadline) {
		printf("not under %s: %s\n",
		       fifo ? "SCHED_FIFO" : "SCHED_DEADLINE",
		       strerror(fifo ? fifo : deadline));
		return NOT_RUN;
	}
	return 0;
}
