// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A plugin with the whole library in it: the thread that calls it waits for a lock. */
#include <lockwork/lockwork.h>

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static lw_mutex_t mutex = LW_MUTEX_INIT;
static sem_t is_held;

static void *hold(void *unused)
{
	(void)unused;
	lw_mutex_lock(&mutex);
	sem_post(&is_held);
	usleep(100000); /* so that the other one waits, and has a slot from then on */
	lw_mutex_unlock(&mutex);
	return NULL;
}

void plugin_wait(void);
void plugin_wait(void)
{
	pthread_t holder;

	sem_init(&is_held, 0, 0);
	pthread_create(&holder, NULL, hold, NULL);
	sem_wait(&is_held);
	lw_mutex_lock(&mutex);
	lw_mutex_unlock(&mutex);
	pthread_join(holder, NULL);
}
