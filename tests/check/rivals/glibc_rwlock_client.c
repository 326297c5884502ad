// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The baseline glibc_rwlock: readers and writers, in each phase that a call may find. */
#include "frame.h"
#include "readers.h"

extern const struct lk_ops lk_glibc_rwlock_ops;

static const struct lk_ops *const ops = &lk_glibc_rwlock_ops;
static char object[64] __attribute__((aligned(64)));

static void init(void)
{
	ops->init(object);
}

/* Idle, and the last one wrote: so it is in a write phase. */
static void after_a_writer(void)
{
	init();
	ops->lock(object);
	ops->unlock(object);
}

static void spurious(void)
{
	init();
	check_world.spurious = 1;
}

static void write_inside(void)
{
	write_section();
	ops->unlock(object);
}

static void read_inside(void)
{
	read_section();
	ops->read_unlock(object);
}

static void write(void)
{
	EACH_ACQUISITION(ops->lock(object); write_inside());
}

static void read(void)
{
	EACH_ACQUISITION(ops->read_lock(object); read_inside());
}

/* Thread 0 locks, the others only try: odd ones to write, even ones to read. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(
		if (id == 0) {
			ops->lock(object);
			write_inside();
		} else if (id % 2 && ops->trylock(object)) {
			write_inside();
		} else if (id % 2 == 0 && ops->read_trylock(object)) {
			read_inside();
		});
}

static void finish(void)
{
	check_sections();
	CHECK(ops->trylock(object), "the lock is not free at the end");
}

const struct check_client check_glibc_rwlock[] = {
	{ "glibc_rwlock", "writers", "one writer at a time", 3, 2, 1, 300, 16,
	  init, writers, finish },
	{ "glibc_rwlock", "one_writer", "no reader beside a writer", 3, 2, 1,
	  300, 16, init, one_writer, finish },
	{ "glibc_rwlock", "one_reader", "no writer beside a reader", 3, 2, 1,
	  300, 16, init, one_reader, finish },
	{ "glibc_rwlock", "idle_write", "readers find it in a write phase", 3,
	  2, 1, 300, 16, after_a_writer, one_writer, finish },
	{ "glibc_rwlock", "spurious", "sleeps that end early", 3, 1, 2, 300, 16,
	  spurious, one_writer, finish },
	{ "glibc_rwlock", "try", "a try that fails changes nothing", 3, 2, 2,
	  300, 16, init, lock_or_try, finish },
	{ 0 },
};

const struct check_mutant mutants_glibc_rwlock[] = {
	{ "the turn does not follow", "follow", "xchg", NULL, "drop" },
	{ "wakes nobody for a phase", "follow", "wake_value", NULL, "drop" },
	{ "wakes no writer", "unlock", "wake_value", NULL, "drop" },
	{ "overwrites readers that wait", "unlock",
	  "atomic_try_cmpxchg_release", NULL, "force" },
	{ "two first writers", "be_first", "atomic_try_cmpxchg_acquire", NULL,
	  "split" },
	{ "counts itself in two steps", "read_lock", "atomic_fetch_add_acquire",
	  NULL, "split" },
	{ 0 },
};
