/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The first waiter sits in a signal handler until the one behind it has been served:
 * it keeps nobody from a free lock, and a signal goes to a waiter that can take it.
 */
#define _GNU_SOURCE
#include "expect.h"

#include "../asleep.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static lw_mutex_t m = LW_MUTEX_INIT;
static lw_rwlock_t rw = LW_RWLOCK_INIT;
static lw_cond_t cond = LW_COND_INIT;
static lw_spinlock_t spin = LW_SPINLOCK_INIT;
static lw_spin_rwlock_t spin_rw = LW_SPIN_RWLOCK_INIT;
static int served[2], tokens;
static atomic_int in_handler, tids[2];

static void handler(int sig)
{
	char byte;

	(void)sig;
	atomic_store(&in_handler, 1);
	while (read(served[0], &byte, 1) != 1)
		;
}

/* What a thread waits for. */
struct kind {
	void (*take)(void), (*give)(void);
	/* How the main thread keeps it, and lets it go; NULL: there is none. */
	void (*hold)(void), (*release)(void);
	bool spins;
};

static void lock(void)
{
	lw_mutex_lock(&m);
}

static void unlock(void)
{
	lw_mutex_unlock(&m);
}

static void write_lock(void)
{
	lw_write_lock(&rw);
}

static void write_unlock(void)
{
	lw_write_unlock(&rw);
}

static void read_lock(void)
{
	lw_read_lock(&rw);
}

static void read_unlock(void)
{
	lw_read_unlock(&rw);
}

static void spin_lock(void)
{
	lw_spin_lock(&spin);
}

static void spin_unlock(void)
{
	lw_spin_unlock(&spin);
}

static void spin_write_lock(void)
{
	lw_spin_write_lock(&spin_rw);
}

static void spin_write_unlock(void)
{
	lw_spin_write_unlock(&spin_rw);
}

static void spin_read_lock(void)
{
	lw_spin_read_lock(&spin_rw);
}

static void spin_read_unlock(void)
{
	lw_spin_read_unlock(&spin_rw);
}

static void take_token(void)
{
	lw_mutex_lock(&m);
	while (!tokens)
		lw_cond_wait(&cond, &m);
	tokens--;
}

static void give_token(void)
{
	lw_mutex_lock(&m);
	tokens++;
	lw_cond_signal(&cond);
	lw_mutex_unlock(&m);
}

static const struct kind *kind;

static void *first(void *unused)
{
	atomic_store(&tids[0], (int)syscall(SYS_gettid));
	kind->take();
	kind->give();
	return unused;
}

static void *second(void *unused)
{
	atomic_store(&tids[1], (int)syscall(SYS_gettid));
	kind->take();
	EXPECT(write(served[1], "x", 1) == 1);
	kind->give();
	return unused;
}

/* Asleep, or some time after it began to spin: the handler may also come sooner. */
static pthread_t start_and_wait(void *(*body)(void *), atomic_int *tid)
{
	pthread_t thread;

	atomic_store(tid, 0);
	EXPECT(!pthread_create(&thread, NULL, body, NULL));
	if (kind->spins) {
		while (!atomic_load(tid))
			usleep(100);
		usleep(5000);
		return thread;
	}
	while (!is_asleep(atomic_load(tid)))
		usleep(1000);
	return thread;
}

static void test_kind(const struct kind *one)
{
	pthread_t threads[2];

	kind = one;
	atomic_store(&in_handler, 0);
	if (kind->hold)
		kind->hold();
	threads[0] = start_and_wait(first, &tids[0]);
	threads[1] = start_and_wait(second, &tids[1]);
	pthread_kill(threads[0], SIGUSR1);
	while (!atomic_load(&in_handler))
		usleep(100);
	kind->release();
	pthread_join(threads[1], NULL);
	if (kind->release == give_token)
		give_token(); /* the first has had a signal, but no token */
	pthread_join(threads[0], NULL);
}

void test_stopped(void)
{
	static const struct kind kinds[] = {
		{ lock, unlock, lock, unlock, false },
		{ write_lock, write_unlock, write_lock, write_unlock, false },
		{ read_lock, read_unlock, write_lock, write_unlock, false },
		{ take_token, unlock, NULL, give_token, false },
		{ spin_lock, spin_unlock, spin_lock, spin_unlock, true },
		{ spin_write_lock, spin_write_unlock, spin_write_lock,
		  spin_write_unlock, true },
		{ spin_read_lock, spin_read_unlock, spin_write_lock,
		  spin_write_unlock, true },
	};
	static const enum lw_spin_mode modes[] = {
		LW_SPIN_FAIR, LW_SPIN_STEAL, LW_SPIN_TAS,
		LW_SPIN_PV,   LW_SPIN_AUTO,
	};
	struct sigaction act = { .sa_handler = handler };
	unsigned int i;

	EXPECT(!pipe(served));
	EXPECT(!sigaction(SIGUSR1, &act, NULL));
	for (i = 0; i < 5 * sizeof(kinds) / sizeof(*kinds); i++) {
		lw_spin_set_mode(modes[i % 5]);
		test_kind(&kinds[i % (sizeof(kinds) / sizeof(*kinds))]);
	}
	lw_spin_set_mode(LW_SPIN_AUTO);
}
