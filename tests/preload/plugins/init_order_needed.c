/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A library the program is linked with: its constructor runs before, and its
 * destructor after, those of most others.
 */
#define PLUGIN
#include "expect.h"

pthread_mutex_t needed_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t needed_cond = PTHREAD_COND_INITIALIZER;
long needed_uses;
void needed_use(void);

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_t helper;

void needed_use(void)
{
	RET(pthread_mutex_lock(&needed_mutex), 0);
	RET(pthread_rwlock_wrlock(&rw), 0);
	needed_uses++;
	RET(pthread_rwlock_unlock(&rw), 0);
	RET(pthread_cond_broadcast(&needed_cond), 0);
	RET(pthread_mutex_unlock(&needed_mutex), 0);
}

static void *help(void *arg)
{
	for (int i = 0; i < 1000; i++)
		needed_use();
	return arg;
}

/* Threads that fight for a lock before main, and are gone by then. */
__attribute__((constructor)) static void constructor(void)
{
	EQ(pthread_create(&helper, NULL, help, NULL), 0);
	help(NULL);
	EQ(pthread_join(helper, NULL), 0);
	EQ(needed_uses, 2000);
}

__attribute__((destructor)) static void destructor(void)
{
	EQ(pthread_create(&helper, NULL, help, NULL), 0);
	help(NULL);
	EQ(pthread_join(helper, NULL), 0);
	EXPECT(needed_uses >= 4000);
}
