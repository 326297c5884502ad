// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Two kinds of locks that are the program's own. `futex`: three threads wait for a second by
 * system calls that no library makes. `parked`: two threads, each with a condition variable of
 * its own, wake each other a thousand times.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURNS 1000

pthread_mutex_t seen_mutex = PTHREAD_MUTEX_INITIALIZER;
static int word = 1;

static long own_futex(int *at, long operation, long value)
{
	register long timeout __asm__("r10") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"((long)SYS_futex), "D"(at), "S"(operation),
			   "d"(value), "r"(timeout)
			 : "rcx", "r11", "memory");
	return result;
}

__attribute__((noinline)) void wait_for_own_lock(void)
{
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		own_futex(&word, FUTEX_WAIT_PRIVATE, 1);
}

static void *waiter(void *arg)
{
	wait_for_own_lock();
	return arg;
}

static void wait_by_own_calls(void)
{
	pthread_t thread[3];

	/* By one thread alone: however loaded the machine is, nobody waits for it. */
	pthread_mutex_lock(&seen_mutex);
	pthread_mutex_unlock(&seen_mutex);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, waiter, NULL);
	sleep(1);
	__atomic_store_n(&word, 0, __ATOMIC_RELEASE);
	own_futex(&word, FUTEX_WAKE_PRIVATE, 3);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

static struct parker {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int may_go;
} parkers[2] = {
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 1 },
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 },
};

__attribute__((noinline)) void park(struct parker *mine)
{
	pthread_mutex_lock(&mine->mutex);
	while (!mine->may_go)
		pthread_cond_wait(&mine->cond, &mine->mutex);
	mine->may_go = 0;
	pthread_mutex_unlock(&mine->mutex);
}

static void unpark(struct parker *other)
{
	pthread_mutex_lock(&other->mutex);
	other->may_go = 1;
	pthread_mutex_unlock(&other->mutex);
	pthread_cond_signal(&other->cond);
}

static void *take_turns(void *arg)
{
	struct parker *mine = arg;

	for (int i = 0; i < TURNS; i++) {
		park(mine);
		unpark(&parkers[mine == parkers]);
	}
	return NULL;
}

static void park_in_turns(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, take_turns, &parkers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "parked"))
		park_in_turns();
	else
		wait_by_own_calls();
	return 0;
}
