// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A plugin with the whole library in it: the thread that calls it waits for a lock. */
#include <lockwork/lockwork.h>
#include <user.h>

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
	/* The one that waits has a slot; so has nobody who takes a free mutex. */
	while (!lkp_user_slots_in_use())
		usleep(100);
	lw_mutex_unlock(&mutex);
	return NULL;
}

void plugin_wait(void);
void plugin_wait(void)
{
	pthread_t holder;

	/* Then it spins in the queue, though the holder is off its CPU. */
	lw_set_knob("watch_owner", "0");
	sem_init(&is_held, 0, 0);
	pthread_create(&holder, NULL, hold, NULL);
	sem_wait(&is_held);
	lw_mutex_lock(&mutex);
	lw_mutex_unlock(&mutex);
	pthread_join(holder, NULL);
}
