// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Readers overlap without end, until a writer gets the lock: 0. 1: it did not, in a long time. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#define READERS	   5
#define SECTION_US 3000
#define LONG_S	   20

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_bool stop;
static atomic_int inside;

static void *read_on(void *arg)
{
	while (!atomic_load(&stop)) {
		pthread_rwlock_rdlock(&lock);
		atomic_fetch_add(&inside, 1);
		usleep(SECTION_US);
		/* Nobody leaves who is the last one, for a while. */
		for (int i = 0; i < 100 && atomic_load(&inside) == 1; i++)
			usleep(SECTION_US);
		atomic_fetch_sub(&inside, 1);
		pthread_rwlock_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	pthread_t thread[READERS];
	struct timespec end;
	int err;

	for (int i = 0; i < READERS; i++)
		pthread_create(&thread[i], NULL, read_on, NULL);
	while (!atomic_load(&inside))
		usleep(SECTION_US);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += LONG_S;
	err = pthread_rwlock_timedwrlock(&lock, &end);
	if (!err)
		pthread_rwlock_unlock(&lock);
	atomic_store(&stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
	return err != 0;
}
