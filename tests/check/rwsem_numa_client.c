// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The lock's own logic is rwsem_client.c's; here it is over another queue. */
#include "numa.h"
#include "rwsem.h"

static struct lk_rwsem lock;

static void write(void)
{
	if (!lk_rwsem_lock_fast(&lock))
		lk_rwsem_lock_slow(&lock, NULL, &lk_spin_over_numa_osq);
	write_section();
	lk_rwsem_unlock(&lock);
}

static void read(void)
{
	if (!lk_rwsem_read_trylock(&lock, LK_READER_PASSES))
		lk_rwsem_read_lock_slow(&lock, LK_READER_PASSES, NULL,
					&lk_spin_over_numa_osq);
	read_section();
	lk_rwsem_read_unlock(&lock);
}

static void writers(u32 id)
{
	(void)id;
	EACH_ACQUISITION(write());
}

/* Thread 0 writes, the others read. */
static void one_writer(u32 id)
{
	EACH_ACQUISITION(if (id == 0) write(); else read());
}

/* Thread 0 locks, the others only try: odd ones to write, even ones to read. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(
		if (id == 0) {
			write();
		} else if (id % 2 && lk_rwsem_trylock(&lock)) {
			write_section();
			lk_rwsem_unlock(&lock);
		} else if (id % 2 == 0 &&
			   lk_rwsem_read_trylock(&lock, LK_READER_PASSES)) {
			read_section();
			lk_rwsem_read_unlock(&lock);
		});
}

static void init(u32 rounds)
{
	spin_divided(rounds);
	check_world.no_time = true;
	check_world.handover_spins = 0;
}

static void init_spinning(void)
{
	init(1);
}

static void init_sleepers(void)
{
	init(0);
}

static void init_forked(void)
{
	init_spinning();
	fork_divided(&lock.osq);
	atomic_set(&lock.word, LK_RWSEM_QUEUED | LK_RWSEM_LOOK);
	lock.first = (struct lk_ring *)8;
}

static void finish(void)
{
	check_sections();
	CHECK(atomic_read(&lock.word) == 0, "the lock is not free at the end");
	CHECK(!lock.first, "somebody is on the list at the end");
	check_nobody_spins(&lock.osq);
}

const struct check_client check_rwsem_numa[] = {
	{ "rwsem_numa", "writers", "one writer at a time", 3, 1, 1, 600, 16,
	  init_sleepers, writers, finish },
	{ "rwsem_numa", "one_writer", "no reader beside a writer", 2, 2, 1, 600,
	  16, init_sleepers, one_writer, finish },
	{ "rwsem_numa", "try", "a try that fails changes nothing", 3, 2, 2, 600,
	  16, init_sleepers, lock_or_try, finish },
	{ "rwsem_numa", "spinning", "one waiter spins, the others queue", 2, 2,
	  2, 600, 16, init_spinning, writers, finish },
	{ "rwsem_numa", "fork", "waiters lost in a fork are forgotten", 2, 1, 2,
	  600, 16, init_forked, writers, finish },
	{ 0 },
};

const struct check_mutant mutants_rwsem_numa[] = {
	{ "the gone are never forgotten", "epoch.B", NULL, NULL, "drop" },
	{ 0 },
};
