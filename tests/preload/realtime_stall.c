/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A real-time thread waits for one of lower priority on its own CPU. It has to sleep, or
 * the other one cannot run until the kernel throttles real-time threads: after nearly a
 * second of spinning or yielding. So what a waiter computes for each of its sleeps shows
 * a stall; how long it waits does not matter.
 *
 * It comes while the other one holds, and in each part of the other one's call: also
 * where that has the lock of a list.
 */
#include "one_of_each.h"

#include "../step.h"

#include <semaphore.h>
#include <sys/resource.h>

/* Nanoseconds of the CPU. Throttling begins at 950 ms, as the kernel is shipped. */
#define STALL_NS 300000000LL
/* Instructions from one stop to the next, but for REALTIME_STALL_STRIDE. */
#define STRIDE 53

static sem_t go;
static int policy;
static atomic_int begun, queued_tid;

static void use_mutex(void)
{
	lock();
	unlock();
}

static void use_reading(void)
{
	rdlock();
	rwunlock();
}

static void use_writing(void)
{
	wrlock();
	rwunlock();
}

static void use_spin(void)
{
	spin_lock();
	spin_unlock();
}

static void use_token(void)
{
	take_token();
	unlock();
}

/* One for the waiter, one for the thread that has queued. */
static void give_tokens(void)
{
	tokens = 2;
	RET(pthread_cond_broadcast(&cond), 0);
	unlock();
}

static void give_token_each(void)
{
	tokens = 2;
	unlock();
	RET(pthread_cond_signal(&cond), 0);
	RET(pthread_cond_signal(&cond), 0);
}

static const struct timespec past = { 1, 0 };

/* Calls that queue, find that they are late, and leave. */
static void lock_late(void)
{
	RET(pthread_mutex_timedlock(&mutex, &past), ETIMEDOUT);
	unlock();
}

static void write_late(void)
{
	RET(pthread_rwlock_timedwrlock(&rw, &past), ETIMEDOUT);
	rwunlock();
}

static void wait_late(void)
{
	RET(pthread_cond_timedwait(&cond, &mutex, &past), ETIMEDOUT);
	give_tokens();
}

static const struct step {
	const char *name;
	void (*hold)(void), (*release)(void); /* the thread of low priority */
	void (*use)(void);		      /* the one that waits */
	bool ours; /* glibc spins until it is throttled */
} steps[] = {
	{ "a mutex", lock, unlock, use_mutex, false },
	{ "a mutex, to be late", lock, lock_late, use_mutex, false },
	{ "writing behind a reader", rdlock, rwunlock, use_writing, false },
	{ "writing, to be late", rdlock, write_late, use_writing, false },
	{ "reading behind a writer", wrlock, rwunlock, use_reading, false },
	{ "writing behind a writer", wrlock, rwunlock, use_writing, true },
	{ "a broadcast", lock, give_tokens, use_token, false },
	{ "signals", lock, give_token_each, use_token, false },
	{ "a wait, to be late", lock, wait_late, use_token, false },
	{ "a spinlock", spin_lock, spin_unlock, use_spin, true },
};
static const struct step *step;

static int become(int new_policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return pthread_setschedparam(pthread_self(), new_policy, &param);
}

static long long cpu_ns(void)
{
	struct timespec t;

	EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A yield and a preemption are no sleeps. */
static long sleeps(void)
{
	struct rusage usage;

	EQ(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

/* Comes when told, which is at once: its priority is the highest on this CPU. */
static void *waiter(void *arg)
{
	long long ns;
	long slept;

	EQ(become(policy, 20), 0);
	while (sem_wait(&go))
		EQ(errno, EINTR);
	slept = sleeps();
	ns = cpu_ns();
	atomic_store(&begun, 1);
	step->use();
	ns = cpu_ns() - ns;
	slept = sleeps() - slept;
	if (ns / (slept + 1) > STALL_NS) {
		dprintf(2, "%s: computed %lld ms and slept %ld times\n",
			step->name, ns / 1000000, slept);
		_exit(1);
	}
	return arg;
}

/* Has queued before: so a release has somebody to look after. */
static void *queued(void *arg)
{
	EQ(become(policy, 5), 0);
	atomic_store(&queued_tid, gettid());
	step->use();
	return arg;
}

static void call_waiter(void)
{
	EQ(sem_post(&go), 0);
}

static void release(void)
{
	step->release();
}

/* True if the release had @stop instructions, after which the waiter came. */
static bool one_round(long stop)
{
	pthread_t threads[2];
	bool reached = true;

	atomic_store(&queued_tid, 0);
	atomic_store(&begun, 0);
	tokens = 0;
	EQ(pthread_create(&threads[0], NULL, waiter, NULL), 0);
	step->hold();
	EQ(pthread_create(&threads[1], NULL, queued, NULL), 0);
	wait_asleep(&queued_tid);
	if (stop) {
		reached = step_into(release, call_waiter, stop);
		if (!reached)
			call_waiter();
	} else {
		call_waiter();
		while (!atomic_load(&begun))
			sched_yield();
		release();
	}
	finish(threads, 2);
	return reached;
}

static void pin(void)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;

	EQ(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

int main(void)
{
	const char *given = getenv("REALTIME_STALL_STRIDE");
	long stride = given ? atol(given) : STRIDE;

	if (become(SCHED_FIFO, 20) == EPERM) {
		puts("this user may not set real-time priorities");
		return NOT_RUN;
	}
	EQ(become(SCHED_OTHER, 0), 0);
	pin();
	EQ(sem_init(&go, 0, 0), 0);
	EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	for (step = steps; step < steps + LEN(steps); step++) {
		long stop = 1;

		if (step->ours && !expect_lockwork())
			continue;
		policy = SCHED_RR;
		STAGE(step - steps);
		one_round(0);
		policy = SCHED_FIFO;
		one_round(0);
		do
			STAGE(stop);
		while (one_round(stop) && (stop += stride));
	}
	return 0;
}
