/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that uses the installed library from C99: four threads count under
 * each lock, two take turns. Built and run by crates/lockwork-catalogue/tests/install.rs.
 */
#define _POSIX_C_SOURCE 200809L
#include <lockwork/lockwork.h>
#include <lockwork/profile.h>

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 10000 };

static lw_mutex_t mutex = LW_MUTEX_INIT;
static lw_spinlock_t spin = LW_SPINLOCK_INIT;
static lw_rwlock_t rw = LW_RWLOCK_INIT;
static lw_spin_rwlock_t spin_rw = LW_SPIN_RWLOCK_INIT;
static lw_cond_t changed = LW_COND_INIT;
static long by_mutex, by_spin, by_rw, by_spin_rw, turn;

static void *count(void *unused)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		lw_mutex_lock(&mutex);
		by_mutex++;
		lw_mutex_unlock(&mutex);
		lw_spin_lock(&spin);
		by_spin++;
		lw_spin_unlock(&spin);
		lw_write_lock(&rw);
		by_rw++;
		lw_write_downgrade(&rw);
		lw_read_unlock(&rw);
		lw_spin_write_lock(&spin_rw);
		by_spin_rw++;
		lw_spin_write_unlock(&spin_rw);
		lw_spin_read_lock(&spin_rw);
		lw_spin_read_unlock(&spin_rw);
	}
	return unused;
}

static void *take_turns(void *own)
{
	const long mine = own != NULL;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		lw_mutex_lock(&mutex);
		while (turn % 2 != mine)
			lw_cond_wait(&changed, &mutex);
		turn++;
		lw_mutex_unlock(&mutex);
		lw_cond_signal(&changed);
	}
	return NULL;
}

static void *time_out(void *late)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 1000000;
	*(bool *)late = !lw_mutex_timedlock(&mutex, &until) &&
			!lw_read_timedlock(&rw, &until) &&
			!lw_write_timedlock(&rw, &until);
	return NULL;
}

int main(void)
{
	const long all = (long)THREADS * ROUNDS;
	pthread_t threads[THREADS];
	bool late = false;
	int i;

	lw_profile_name(&mutex, "by nobody, as there is no recorder");
	if (lw_set_queue(LW_QUEUE_NUMA_OSQ))
		return 4;
	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, count, NULL))
			return 2;
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	if (pthread_create(&threads[0], NULL, take_turns, NULL))
		return 2;
	take_turns(&mutex);
	pthread_join(threads[0], NULL);

	lw_mutex_lock(&mutex);
	lw_write_lock(&rw);
	if (pthread_create(&threads[0], NULL, time_out, &late))
		return 2;
	pthread_join(threads[0], NULL);
	lw_write_unlock(&rw);
	lw_mutex_unlock(&mutex);

	printf("%ld %ld %ld %ld %ld %d\n", by_mutex, by_spin, by_rw, by_spin_rw,
	       turn, late);
	return by_mutex != all || by_spin != all || by_rw != all ||
	       by_spin_rw != all || turn != 2 * ROUNDS || !late;
}
