// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "readers.h"
#include "rwlock.h"

static struct lk_rwlock lock;

static void write(void)
{
	EACH_ACQUISITION(lk_rwlock_lock(&lock); write_section();
			 lk_rwlock_unlock(&lock));
}

static void read(void)
{
	EACH_ACQUISITION(lk_rwlock_read_lock(&lock); read_section();
			 lk_rwlock_read_unlock(&lock));
}

/* Thread 0 locks, the others only try: odd ones to write, even ones to read. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(
		if (id == 0) {
			lk_rwlock_lock(&lock);
			write_section();
			lk_rwlock_unlock(&lock);
		} else if (id % 2 && lk_rwlock_trylock(&lock)) {
			write_section();
			lk_rwlock_unlock(&lock);
		} else if (id % 2 == 0 && lk_rwlock_read_trylock(&lock)) {
			read_section();
			lk_rwlock_read_unlock(&lock);
		});
}

static void finish(void)
{
	check_sections();
	CHECK(lk_rwlock_trylock(&lock), "the lock is not free at the end");
}

const struct check_client check_rwlock[] = {
	{ "rwlock", "writers", "one writer at a time", 3, 2, 2, 300, 16, NULL,
	  writers, finish },
	{ "rwlock", "one_writer", "no reader beside a writer", 3, 2, 3, 300, 16,
	  NULL, one_writer, finish },
	{ "rwlock", "one_reader", "no writer beside a reader", 3, 2, 2, 300, 16,
	  NULL, one_reader, finish },
	{ "rwlock", "pair", "a writer, a reader, any number of preemptions", 2,
	  2, NO_BOUND, 300, 0, NULL, one_writer, finish },
	{ "rwlock", "try", "a try that fails changes nothing", 3, 2, 2, 300, 16,
	  NULL, lock_or_try, finish },
	{ 0 },
};

const struct check_mutant mutants_rwlock[] = {
	{ "reader counted while it waits", "lk_rwlock_read_lock_slow",
	  "atomic_sub", NULL, "drop" },
	{ "reader counts itself in two steps", "lk_rwlock_count_reader",
	  "atomic_add_return_acquire", NULL, "split" },
	{ "writer overwrites the readers", "lk_rwlock_trylock",
	  "atomic_try_cmpxchg_acquire", NULL, "force" },
	{ "writer overwrites what arrivals have counted", "rwlock.B", NULL,
	  NULL, "split" },
	{ "reader never leaves", "rwlock.C", NULL, NULL, "drop" },
	{ 0 },
};
