// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "mutex_xchg.h"

static struct lk_mutex_xchg lock;
static bool both_queued;

/* How long each thread spins before it sleeps, in rounds. */
static void spin(u32 rounds)
{
	u32 i;

	lock = (struct lk_mutex_xchg)LK_MUTEX_XCHG_INIT;
	for (i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = rounds;
}

static void init(void)
{
	spin(0);
}

/* One try, one look at an owner that runs, one round. */
static void init_spinning(void)
{
	spin(2);
}

static void init_one_cpu(void)
{
	spin(2);
	check_world.one_cpu = true;
}

static void init_spurious(void)
{
	init();
	check_world.spurious = 1;
}

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(lk_mutex_xchg_lock(&lock); critical_section();
			 lk_mutex_xchg_unlock(&lock));
}

/* Odd threads only try. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) lk_mutex_xchg_lock(&lock);
			 else if (!lk_mutex_xchg_trylock(&lock)) continue;
			 critical_section(); lk_mutex_xchg_unlock(&lock));
}

static void init_held(void)
{
	init();
	lk_mutex_xchg_lock(&lock);
}

/*
 * Thread 2 comes after thread 1 has queued. If both are queued when thread 0
 * looks, which still holds, they are served in that order; else thread 2 may
 * pass as an arrival.
 */
static void arrive_in_order(u32 id)
{
	bool behind;
	u64 last;

	if (id == 0) {
		last = lk_mutex_xchg_ops.last_waiter(&lock);
		both_queued =
			last && last != (u64)(uintptr_t)READ_ONCE(lock.first);
	} else {
		behind = id == 2 && lk_mutex_xchg_ops.last_waiter(&lock);
		lk_mutex_xchg_lock(&lock);
		served_after(behind && both_queued ? 1 : NOBODY);
	}
	lk_mutex_xchg_unlock(&lock);
}

/* After a fork: list and list lock name threads that are gone. */
static void init_forked(void)
{
	init();
	check_world.epoch = 1;
	lock.first = (struct lk_ring *)8;
	lock.wait_lock.locked = 1;
}

/* The same; the thread that forked holds, and others waited. */
static void init_forked_held(void)
{
	init_forked();
	atomic_set(&lock.word, LK_MX_WANTED);
}

static void unlock_first(u32 id)
{
	if (id == 0)
		lk_mutex_xchg_unlock(&lock);
	lock_and_unlock(id);
}

static void finish(void)
{
	check_sections();
	CHECK(lk_mutex_xchg_trylock(&lock), "the lock is not free at the end");
	CHECK(!lk_mutex_xchg_ops.last_waiter(&lock),
	      "somebody is on the list at the end");
}

const struct check_client check_mutex_xchg[] = {
	{ "mutex_xchg", "exclusion", "one holder at a time", 3, 2, 2, 600, 16,
	  init, lock_and_unlock, finish },
	{ "mutex_xchg", "pair", "two threads, any number of preemptions", 2, 1,
	  NO_BOUND, 600, 0, init, lock_and_unlock, finish },
	{ "mutex_xchg", "spinning", "waiters spin without a queue", 3, 2, 1,
	  600, 16, init_spinning, lock_and_unlock, finish },
	{ "mutex_xchg", "spinning_pair", "the same, two threads", 2, 2, 3, 600,
	  0, init_spinning, lock_and_unlock, finish },
	{ "mutex_xchg", "one_cpu", "the owner has lost its CPU", 3, 2, 1, 600,
	  16, init_one_cpu, lock_and_unlock, finish },
	{ "mutex_xchg", "try", "a try that fails changes nothing", 3, 2, 2, 600,
	  16, init, lock_or_try, finish },
	{ "mutex_xchg", "spurious", "sleeps that end early", 3, 1, 1, 600, 16,
	  init_spurious, lock_and_unlock, finish },
	{ "mutex_xchg", "fifo", "sleepers are served in order", 3, 1, 1, 600, 3,
	  init_held, arrive_in_order, finish },
	{ "mutex_xchg", "fork", "waiters lost in a fork are forgotten", 3, 1, 1,
	  600, 16, init_forked, lock_and_unlock, finish },
	{ "mutex_xchg", "fork_pair", "the same, held at the fork", 2, 1, 3, 600,
	  0, init_forked_held, unlock_first, finish },
	{ 0 },
};

const struct check_mutant mutants_mutex_xchg[] = {
	{ "arrival counted in two steps", "lk_mutex_xchg_lock",
	  "atomic_add_return_acquire", NULL, "split" },
	{ "try takes what is held", "lk_mutex_xchg_trylock",
	  "atomic_try_cmpxchg_acquire", NULL, "force" },
	{ "sleeper does not say that it waits", "ask", "atomic_xchg_acquire",
	  NULL, "drop" },
	{ "sleeper asks in two steps", "ask", "atomic_xchg_acquire", NULL,
	  "split" },
	{ "sleeper not told to try", "wake_first", "WRITE_ONCE", NULL, "drop" },
	{ "sleeper never woken", "lk_mutex_xchg_unlock_slow", "wake_value",
	  NULL, "drop" },
	{ "wanted word never freed", "mutex_xchg.C", NULL, NULL, "drop" },
	{ 0 },
};
