// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Waits for a lock, called through functions that a test builds without unwind tables. With a
 * number as its argument, the frame pointer's register has a wrong value, of several that one.
 * Says how many there are.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t bare_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int calls;
static int tid;

/* void lock_with(pthread_mutex_t *, unsigned long rbp); without unwind tables. */
void lock_with(pthread_mutex_t *m, unsigned long frame);
__asm__(".text\n"
	".globl lock_with\n"
	".type lock_with, @function\n"
	"lock_with:\n"
	"	push %rbp\n"
	"	mov %rsi, %rbp\n"
	"	call pthread_mutex_lock@PLT\n"
	"	pop %rbp\n"
	"	ret\n"
	".size lock_with, .-lock_with\n");

#define WRONG 13

static void lock_with_any(int which)
{
	unsigned long cell[4] = { 0, 0, 0, 0 };
	const unsigned long all[WRONG] = {
		0,
		1,
		0x1008,
		~0UL,
		~7UL,
		0x7fffffffe000,
		0x8000000000000000,
		(unsigned long)cell,
		(unsigned long)cell + 3,
		(unsigned long)&tid,
		(unsigned long)cell + (1 << 18),
		(unsigned long)cell + (64 << 20),
		(unsigned long)cell - (1 << 12),
	};

	cell[0] = (unsigned long)cell;
	cell[1] = (unsigned long)lock_with_any;
	lock_with(&bare_mutex, all[which % WRONG]);
	pthread_mutex_unlock(&bare_mutex);
}

__attribute__((noinline)) static void innermost(int which)
{
	if (which < 0) {
		pthread_mutex_lock(&bare_mutex);
		pthread_mutex_unlock(&bare_mutex);
	} else {
		lock_with_any(which);
	}
	calls++;
}

/* It calls itself, so its return address is there several times. */
__attribute__((noinline)) static void middle(int which, int times)
{
	if (times > 0)
		middle(which, times - 1);
	else
		innermost(which);
	calls++;
}

static void *outermost(void *which)
{
	__atomic_store_n(&tid, gettid(), __ATOMIC_RELEASE);
	middle((int)(long)which, 3);
	calls++;
	return NULL;
}

static int sleeps(void)
{
	int at = __atomic_load_n(&tid, __ATOMIC_ACQUIRE), found;
	char name[64], state = 0;
	FILE *file;

	if (!at)
		return 0;
	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", at);
	file = fopen(name, "r");
	if (!file)
		return 0;
	found = fscanf(file, "%*d %*s %c", &state);
	fclose(file);
	return found == 1 && state == 'S';
}

int main(int argc, char **argv)
{
	pthread_t thread;

	pthread_mutex_lock(&bare_mutex);
	pthread_create(&thread, NULL, outermost,
		       (void *)(argc > 1 ? atol(argv[1]) : -1));
	while (!sleeps())
		usleep(1000);
	pthread_mutex_unlock(&bare_mutex);
	pthread_join(thread, NULL);
	printf("%d\n", WRONG);
	return 0;
}
