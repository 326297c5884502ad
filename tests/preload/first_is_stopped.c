/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The first waiter sits in a signal handler until all others have been served: it
 * keeps nobody from a free lock, a signal goes to a waiter that can take it, and a
 * broadcast reaches all others.
 */
#include "in_handler.h"
#include "one_of_each.h"

#include <sys/syscall.h>

#define CROWD 40

static int left;
static atomic_int tids[CROWD];
static void (*take)(void), (*give)(void);

static void give_token(void)
{
	lock();
	tokens++;
	RET(pthread_cond_signal(&cond), 0);
	unlock();
}

static void give_crowd_tokens(void)
{
	lock();
	tokens += CROWD;
	RET(pthread_cond_broadcast(&cond), 0);
	unlock();
}

/* The last of those behind the first ends the handler; readers may be several. */
static void *waiter(void *arg)
{
	int id = (int)(intptr_t)arg;

	atomic_store(&tids[id], (int)syscall(SYS_gettid));
	take();
	if (id && __atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) == 0)
		handler_ends();
	give();
	return NULL;
}

static bool spins(void)
{
	const char *policy = getenv("LOCKWORK_LOCK");

	return take == spin_lock ||
	       (policy && !strncmp(policy, "qspinlock", 9) && take == lock);
}

/* Asleep, or some time after it began to spin: the handler may also come sooner. */
static void wait_until_it_waits(atomic_int *tid)
{
	if (!spins()) {
		wait_asleep(tid);
		return;
	}
	while (!atomic_load(tid))
		sched_yield();
	nap_us(2000);
}

static void start_waiters(pthread_t *threads, int count)
{
	for (intptr_t id = 0; id < count; id++) {
		atomic_store(&tids[id], 0);
		EQ(pthread_create(&threads[id], NULL, waiter, (void *)id), 0);
		wait_until_it_waits(&tids[id]);
	}
}

static void stop_first(pthread_t first)
{
	EQ(pthread_kill(first, SIGUSR1), 0);
	while (!atomic_load(&in_handler))
		sched_yield();
}

/* @hold and @release: what keeps @count threads waiting, and what ends that. */
static void others_are_served(int count, void (*hold)(void),
			      void (*release)(void))
{
	pthread_t threads[CROWD];

	left = count - 1;
	if (hold)
		hold();
	start_waiters(threads, count);
	STAGE(1);
	stop_first(threads[0]);
	STAGE(2);
	release();
	for (int id = 1; id < count; id++)
		EQ(pthread_join(threads[id], NULL), 0);
	STAGE(3);
	if (release == give_token)
		give_token(); /* the first has had a signal, but no token */
	EQ(pthread_join(threads[0], NULL), 0);
}

/* -- beside threads that wait until a deadline ------------------------------ */

#define TIMED 6

struct timed {
	pthread_t thread;
	long ms;
	struct timespec until;
	int err;
};

static void *timed_locker(void *arg)
{
	struct timed *t = arg;

	t->until = in_ms(CLOCK_REALTIME, t->ms);
	t->err = pthread_mutex_timedlock(&mutex, &t->until);
	if (!t->err)
		unlock();
	return NULL;
}

static void start_timed(struct timed *t, long ms)
{
	t->ms = ms;
	EQ(pthread_create(&t->thread, NULL, timed_locker, t), 0);
}

/*
 * A broadcast has three waiters of a mutex, which others want until a deadline that is over
 * before the mutex is free (@before), or soon after.
 */
static void broadcast_is_served_beside_timed(bool before)
{
	struct timed timed[TIMED];
	pthread_t threads[3];
	long ms = before ? 5 : 25;

	left = 2;
	start_waiters(threads, 3);
	lock();
	if (before)
		start_timed(&timed[0], ms);
	nap_us(2000);
	tokens += 3;
	RET(pthread_cond_broadcast(&cond), 0);
	stop_first(threads[0]);
	for (int i = before; i < TIMED; i++)
		start_timed(&timed[i], ms);
	nap_us(before ? 20000 : 8000);
	unlock();
	for (int id = 0; id < 3; id++)
		EQ(pthread_join(threads[id], NULL), 0);
	for (int i = 0; i < TIMED; i++)
		EQ(pthread_join(timed[i].thread, NULL), 0);
}

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec
				    : a.tv_nsec < b.tv_nsec;
}

/* A mutex that is free before the deadline is taken. */
static void timed_locker_gets_what_is_free(void)
{
	struct timespec free_at;
	struct timed timed;
	pthread_t first;

	left = 1;
	lock();
	start_waiters(&first, 1);
	stop_first(first);
	start_timed(&timed, 30);
	nap_us(2000);
	unlock();
	free_at = in_ms(CLOCK_REALTIME, 0);
	EQ(pthread_join(timed.thread, NULL), 0);
	if (is_before(free_at, timed.until))
		EQ(timed.err, 0);
	handler_ends();
	EQ(pthread_join(first, NULL), 0);
}

int main(void)
{
	EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	handler_install();
	for (long round = 0; round < 20; round++) {
		take = lock, give = unlock;
		others_are_served(2, lock, unlock);
		others_are_served(4, lock, unlock);
		take = spin_lock, give = spin_unlock;
		others_are_served(2, spin_lock, spin_unlock);
		others_are_served(4, spin_lock, spin_unlock);
		take = wrlock, give = rwunlock;
		others_are_served(2, wrlock, rwunlock);
		take = rdlock;
		others_are_served(2, wrlock, rwunlock);
		take = take_token, give = unlock;
		others_are_served(2, NULL, give_token);
		others_are_served(CROWD, NULL, give_crowd_tokens);
		broadcast_is_served_beside_timed(true);
		broadcast_is_served_beside_timed(false);
		take = lock;
		timed_locker_gets_what_is_free();
	}
	return 0;
}
