// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A signal handler that tries many new mutexes, at each instruction of a call that locks a known
 * one: the recorder's index grows meanwhile. Each thread steps one instruction further. None ends
 * before the last one, or another thread would use its index.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#define STEPS 160
#define NEW   700
#define TRAP  0x100 /* the flag of x86 that stops after each instruction */

static pthread_mutex_t known = PTHREAD_MUTEX_INITIALIZER, new[NEW];
static __thread intptr_t left;
static sem_t stepped, end;

static void step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)signal;
	(void)info;
	if (--left > 0)
		return;
	c->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
	for (int i = 0; i < NEW; i++) {
		if (!pthread_mutex_trylock(&new[i]))
			pthread_mutex_unlock(&new[i]);
	}
}

static void *lock_in_steps(void *steps)
{
	pthread_mutex_lock(&known);
	pthread_mutex_unlock(&known);
	for (int i = 0; i < 2; i++) {
		/* The second time, at a site that is known. */
		left = i ? (intptr_t)steps : 0;
		if (left)
			__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::
						 : "memory", "cc");
		pthread_mutex_lock(&known);
		__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::
					 : "memory", "cc");
		pthread_mutex_unlock(&known);
	}
	sem_post(&stepped);
	sem_wait(&end);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = step,
				    .sa_flags = SA_SIGINFO };
	pthread_t thread[STEPS];

	sigaction(SIGTRAP, &action, NULL);
	sem_init(&stepped, 0, 0);
	sem_init(&end, 0, 0);
	for (intptr_t i = 0; i < STEPS; i++) {
		pthread_create(&thread[i], NULL, lock_in_steps,
			       (void *)(i + 1));
		sem_wait(&stepped);
	}
	for (int i = 0; i < STEPS; i++)
		sem_post(&end);
	for (int i = 0; i < STEPS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
