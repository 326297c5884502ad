// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "readers.h"
#include "qrwlock.h"

static struct lk_qrw lock;

static void init(void)
{
	lk_qrw_init(&lock);
}

static void write(void)
{
	EACH_ACQUISITION(lk_qrw_lock(&lock); write_section();
			 lk_qrw_unlock(&lock));
}

static void read(void)
{
	EACH_ACQUISITION(lk_qrw_read_lock(&lock); read_section();
			 lk_qrw_read_unlock(&lock));
}

/* Thread 0 locks, the others only try: odd ones to write, even ones to read. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(
		if (id == 0) {
			lk_qrw_lock(&lock);
			write_section();
			lk_qrw_unlock(&lock);
		} else if (id % 2 && lk_qrw_trylock(&lock)) {
			write_section();
			lk_qrw_unlock(&lock);
		} else if (id % 2 == 0 && lk_qrw_read_trylock(&lock)) {
			read_section();
			lk_qrw_read_unlock(&lock);
		});
}

static void init_held(void)
{
	init();
	lk_qrw_lock(&lock);
}

/* Thread 1 writes, thread 2 reads: not past a writer that drains. */
static void arrive_in_order(u32 id)
{
	u32 state;

	if (id == 0) {
		lk_qrw_unlock(&lock);
	} else if (id == 1) {
		lk_qrw_lock(&lock);
		served_after(NOBODY);
		lk_qrw_unlock(&lock);
	} else {
		state = atomic_read(&lock.state);
		lk_qrw_read_lock(&lock);
		served_after(state & LK_QRW_DRAINING ? 1 : NOBODY);
		lk_qrw_read_unlock(&lock);
	}
}

/* The last thread reads twice, the second time inside the first. */
static void read_twice(u32 id)
{
	if (id != 2) {
		write();
		return;
	}
	lk_qrw_read_lock(&lock);
	read_section();
	lk_qrw_read_lock_nested(&lock);
	read_section();
	lk_qrw_read_unlock(&lock);
	lk_qrw_read_unlock(&lock);
}

/* Thread 0 writes, the others read as if they might read already. */
static void read_nested(u32 id)
{
	if (id == 0)
		write();
	else
		EACH_ACQUISITION(lk_qrw_read_lock_nested(&lock); read_section();
				 lk_qrw_read_unlock(&lock));
}

/* Waiters leave the queue if the lock is free for them when they look. */
static void init_leaving(void)
{
	init();
	leave_from(1);
}

/* The head of the queue is stopped, a writer that drains. */
static void init_head_stopped(void)
{
	init();
	leave_from(0);
	atomic_set(&lock.state, LK_QRW_DRAINING);
	atomic_set(&lock.queue.val, LK_Q_LOCKED);
}

static void finish_stopped(void)
{
	check_sections();
	CHECK((u32)atomic_read(&lock.state) == LK_QRW_DRAINING,
	      "somebody holds the lock at the end");
}

static void finish(void)
{
	check_sections();
	CHECK(lk_qrw_trylock(&lock), "the lock is not free at the end");
	CHECK((u32)atomic_read(&lock.queue.val) == wait_tag(),
	      "somebody is queued at the end");
}

const struct check_client check_qrwlock[] = {
	{ "qrwlock", "writers", "one writer at a time", 3, 2, 3, 300, 16, init,
	  writers, finish },
	{ "qrwlock", "one_writer", "no reader beside a writer", 3, 2, 3, 300,
	  16, init, one_writer, finish },
	{ "qrwlock", "one_reader", "no writer beside a reader", 3, 2, 3, 300,
	  16, init, one_reader, finish },
	{ "qrwlock", "pair", "a writer, a reader, seven preemptions", 2, 2, 7,
	  300, 0, init, one_writer, finish },
	{ "qrwlock", "try", "a try that fails changes nothing", 3, 2, 2, 300,
	  16, init, lock_or_try, finish },
	{ "qrwlock", "fifo", "no reader passes a waiting writer", 3, 1, 3, 300,
	  3, init_held, arrive_in_order, finish },
	{ "qrwlock", "nested", "no nested reader beside a writer", 3, 2, 3, 300,
	  16, init, read_nested, finish },
	{ "qrwlock", "twice", "a reader's second lock waits for no queue", 3, 1,
	  3, 300, 3, init, read_twice, finish },
	{ "qrwlock", "leave", "waiters leave the queue", 3, 2, 2, 300, 16,
	  init_leaving, one_reader, finish },
	{ "qrwlock", "leave_reading", "the same, with more readers", 3, 2, 2,
	  300, 16, init_leaving, one_writer, finish },
	{ "qrwlock", "head_stops", "none waits for a stopped head", 3, 1, 1,
	  300, 16, init_head_stopped, one_writer, finish_stopped },
	{ 0 },
};

const struct check_mutant mutants_qrwlock[] = {
	{ "reader counted while it queues", "queue_reader", "atomic_sub", NULL,
	  "drop" },
	{ "reader at the head not counted", "queue_reader", "atomic_add", NULL,
	  "drop" },
	{ "writer does not announce itself", "announce", "atomic_add", NULL,
	  "drop" },
	{ "reader does not wait for the writer", "qrwlock.E", NULL, NULL,
	  "no_wait" },
	{ "writer does not wait for the others", "qrwlock.F", NULL, NULL,
	  "force" },
	{ "writer takes the lock in two steps", "qrwlock.F", NULL, NULL,
	  "split" },
	{ "nested reader is not counted", "lk_qrw_read_lock_nested",
	  "atomic_fetch_add_acquire", NULL, "drop" },
	{ "writer that left does not wait", "wait_outside",
	  "atomic_cond_read_relaxed", NULL, "no_wait" },
	{ "writer's try is not atomic", "qrwlock.D", NULL, NULL, "split" },
	{ 0 },
};
