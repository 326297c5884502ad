// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Locks that no policy replaces, each taken a thousand times by two threads, and condition
 * variables, of which one is shared. And `gate`: the first thread holds it but for moments, and
 * the second one waits for those.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t inherits, shared, plain,
	gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared_rwlock;
static pthread_spinlock_t shared_spinlock;
static pthread_cond_t shared_condvar, plain_condvar = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t start;
static volatile int sum, passes;

static void work(void)
{
	for (int i = 0; i < 300; i++)
		sum += i;
}

static void *take(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&inherits);
		work();
		pthread_mutex_unlock(&inherits);
		pthread_mutex_lock(&shared);
		work();
		pthread_mutex_unlock(&shared);
		pthread_rwlock_wrlock(&shared_rwlock);
		work();
		pthread_rwlock_unlock(&shared_rwlock);
		pthread_spin_lock(&shared_spinlock);
		pthread_spin_unlock(&shared_spinlock);
		pthread_mutex_lock(&plain);
		pthread_mutex_unlock(&plain);
	}
	return arg;
}

static void *pass(void *arg)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&gate);
		passes++;
		pthread_mutex_unlock(&gate);
		pthread_barrier_wait(&start);
	}
	return arg;
}

static void hold_back(void)
{
	pthread_t thread;

	pthread_mutex_lock(&gate);
	pthread_create(&thread, NULL, pass, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&start);
		usleep(300000);
		pthread_mutex_unlock(&gate);
		while (passes <= i)
			usleep(1000);
		pthread_mutex_lock(&gate);
	}
	pthread_mutex_unlock(&gate);
	pthread_barrier_wait(&start);
	pthread_join(thread, NULL);
}

static void wait_for(pthread_cond_t *c, pthread_mutex_t *m)
{
	const struct timespec past = { 1, 0 };

	pthread_mutex_lock(m);
	for (int i = 0; i < 10; i++)
		pthread_cond_timedwait(c, m, &past);
	pthread_cond_signal(c);
	pthread_mutex_unlock(m);
}

int main(void)
{
	pthread_condattr_t cattr;
	pthread_mutexattr_t attr;
	pthread_rwlockattr_t rwattr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutex_init(&plain, &attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherits, &attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_NONE);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared, &attr);
	pthread_rwlockattr_init(&rwattr);
	pthread_rwlockattr_setpshared(&rwattr, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared_rwlock, &rwattr);
	pthread_spin_init(&shared_spinlock, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&cattr);
	pthread_condattr_setpshared(&cattr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared_condvar, &cattr);
	pthread_barrier_init(&start, NULL, 2);
	pthread_create(&thread, NULL, take, NULL);
	take(NULL);
	pthread_join(thread, NULL);
	hold_back();
	wait_for(&shared_condvar, &shared);
	wait_for(&plain_condvar, &plain);
	return 0;
}
