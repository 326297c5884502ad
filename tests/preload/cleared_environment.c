/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that clears its environment before its first contention waits as the
 * lock that it was started with has it: it spins, or it sleeps.
 */
#include "expect.h"
#include <stdbool.h>
#include <sys/syscall.h>

/* A mutex that sleeps has spun for much less. */
#define SPUN_NS 20000000

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int tid;

static void *wait_for_it(void *arg)
{
	tid = (int)syscall(SYS_gettid);
	RET(pthread_mutex_lock(&m), 0);
	RET(pthread_mutex_unlock(&m), 0);
	return arg;
}

/* 'R' runs or could run, 'S' sleeps. */
static char state(void)
{
	char path[64], line[512], *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	EXPECT(file);
	EXPECT(fgets(line, sizeof(line), file));
	fclose(file);
	name_end = strrchr(line, ')');
	EXPECT(name_end);
	return name_end[2];
}

static long long cpu_ns(pthread_t thread)
{
	struct timespec t;
	clockid_t clock;

	EQ(pthread_getcpuclockid(thread, &clock), 0);
	EQ(clock_gettime(clock, &t), 0);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(void)
{
	const char *lock = getenv("LOCKWORK_LOCK");
	bool spins = lock && !strncmp(lock, "qspinlock_", 10);
	pthread_t waiter;

	EQ(clearenv(), 0);
	RET(pthread_mutex_lock(&m), 0);
	EQ(pthread_create(&waiter, NULL, wait_for_it, NULL), 0);
	while (!tid)
		nap_us(100);
	if (spins) {
		while (cpu_ns(waiter) < SPUN_NS) {
			EXPECT(state() != 'S');
			nap_us(1000);
		}
	} else {
		while (state() != 'S')
			nap_us(1000);
	}
	RET(pthread_mutex_unlock(&m), 0);
	finish(&waiter, 1);
	return 0;
}
