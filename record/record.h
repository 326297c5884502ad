/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_RECORD_H
#define REC_RECORD_H

/*
 * The recorder: counts what a program does with its pthread locks, and hands each call to
 * the next definition, which is a policy's interposer or glibc.
 *
 * Rules: no read-modify-write, fence or futex. A thread counts in memory of its own. Only
 * the slow path that gives memory out takes a lock, and that lock is glibc's. What other
 * threads should see of a lock (who holds it, who waits) are plain stores that may be
 * stale: they are hints, and the report says so. errno is left alone.
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "format.h"
#include "next.h"
#include "wrapper.h"

#if !defined(__x86_64__) || !defined(__GLIBC__)
#error "the recorder reads the time-stamp counter of x86-64, and replaces glibc's calls"
#endif

#define EXPORT	   __attribute__((visibility("default")))
#define REC_HELD   32
#define REC_CHUNKS 64
/* Holds of so many ticks on average, some 20 microseconds, have their context switches and CPU time counted. */
#define REC_LONG (1u << 16)
/* A woken thread that has something to do takes longer before it waits again. */
#define REC_AT_ONCE 2048

static inline u64 rec_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* A lock that a thread holds. Other threads read this when they find the lock held. */
struct rec_held {
	void *lock;
	u64 record; /* struct rec_site, and REC_TIMED */
};
/* This hold is timed. */
#define REC_TIMED 1u

static inline struct rec_site *rec_held_record(const struct rec_held *h)
{
	return (struct rec_site *)(h->record & ~(u64)REC_TIMED);
}

/* What is kept beside that of a hold that is timed. */
struct rec_timed {
	u64 start;  /* ticks */
	u32 weight; /* of how many holds it is the sample; 0: of itself alone */
	u32 asked; /* its context switches and CPU time are counted from these */
	u64 slept, preempted;
	u64 cpu; /* nanoseconds of its thread's CPU time, up to then */
	struct rec_event *event; /* NULL: none */
	void *outer; /* the lock that was taken before this one; NULL: none is held */
};

/* When a stack is taken. Each kind has its own share of the time. */
enum rec_moment {
	REC_BEFORE_WAIT, /* of a watched wait */
	REC_BEHIND_WAIT, /* it was a long one, and not watched */
	REC_NO_WAIT,
	REC_OWN_FUTEX, /* before a wait by a call that the program makes itself */
	REC_MOMENTS,
};

/*
 * A thread's own memory. The kernel clears it in a forked child, so that a child
 * begins anew whatever made it.
 */
struct rec_thread {
	/* The first cache line is all that most calls need. */
	u32 ready; /* 0: also while the recorder itself works, or after a fork */
	u32 depth;
	u32 *index; /* a hash table: the place of each site; 0: empty */
	u32 shift;  /* 64 less the bits of its size */
	u32 alone;  /* 0: the process has had a second thread */
	char *file; /* the mapping */
	void *away; /* the lock whose timed hold ended last; NULL: it is back */
	u64 sites;  /* in the index */
	struct rec_held held[REC_HELD];
	struct rec_timed timed[REC_HELD];
	u32 busy;
	u32 inside; /* of a lock call of the next definition, which may sleep */
	u32 number;
	u32 holder; /* number of the thread whose list is searched first for a lock */
	struct rec_site *next_site, *last_site; /* room for sites */
	u64 *others; /* an index of records that are not sites: tag and place */
	u64 others_mask, records;
	char *room, *end; /* of the current block */
	struct rec_block *block;
	u32 next_bytes;
	u32 seed;
	struct rec_thread_info *info;
	struct rec_site lost; /* stands for sites without room */
	struct rec_thread_info
		bare; /* stands for @info without room; nobody reads it */
	u64 *dropped; /* acquisitions of @lost, in the file */
	struct rec_thread *next_free;
	u64 next_stack[REC_MOMENTS]; /* ticks: no stack is taken before */
	struct rec_asked asked;
	void *woken; /* by the last wait, if its mutex is still held */
	void *woken_mutex;
	u64 woken_at; /* ticks */
	struct rec_site *away_from;
	u64 away_since; /* ticks */
	u32 away_weight;
	u32 level;  /* of the timeline */
	u32 events; /* in the chunks */
	u32 chunks;
	u32 made;  /* locks whose making has a stack */
	u32 waits; /* so far; it wraps around */
	u64 acquired; /* by the holds that are timed and those for which they stand */
	struct rec_events *chunk[REC_CHUNKS];
};

extern __thread struct rec_thread *rec_mine;
__cold struct rec_thread *rec_thread_begin(void);

/* NULL: nothing is recorded now. */
static inline struct rec_thread *rec_thread(void)
{
	struct rec_thread *t = rec_mine;

	return likely(t && READ_ONCE(t->ready)) ? t : rec_thread_begin();
}

/* In glibc since 2.32: no second thread exists, so no lock can be held by one. */
extern char __libc_single_threaded __attribute__((weak));

static inline bool rec_alone(void)
{
	return &__libc_single_threaded &&
	       *(volatile char *)&__libc_single_threaded;
}

/* --- file.c --- */

/* The mapping; NULL: nothing is recorded. */
extern struct rec_file *rec_file;

/* What each thread waits for, by its number. */
static inline struct rec_wait *rec_waits(void)
{
	return (struct rec_wait *)((char *)rec_file + REC_WAITS);
}

/* Set for good where nothing is to be recorded. */
extern u32 rec_off;

/* Has the lock: makes the file of this process, unless that is done. */
bool rec_file_begin(void);
/* Reads both clocks, so that the reader can tell how long a tick is. */
void rec_file_stamp(void);
/* Has the lock: a new block of @bytes; NULL: no room. */
struct rec_block *rec_block(u32 kind, u32 bytes, u32 thread);
/* Memory that a forked child finds cleared; NULL: none. */
void *rec_memory(size_t bytes);

/* --- maps.c --- */

/* Has the lock: takes down what is mapped where. */
void rec_maps_take(void);
/* The same, if @site is in nothing that is known to be mapped. */
void rec_maps_note(u64 site);

/* --- thread.c --- */

/* Zeroed bytes in @t's block, as a record of @type; NULL: no room. */
void *rec_room(struct rec_thread *t, u32 type, u32 bytes);
/* Between these @t's calls are not recorded: the recorder itself works. */
static inline void rec_busy(struct rec_thread *t)
{
	t->busy = 1;
	WRITE_ONCE(t->ready, 0);
}

static inline void rec_idle(struct rec_thread *t)
{
	t->busy = 0;
	WRITE_ONCE(t->ready, 1);
}

/* 0 to 65535. */
static inline u32 rec_random(struct rec_thread *t)
{
	t->seed = t->seed * 1664525u + 1013904223u;
	return t->seed >> 16;
}

/* This thread does not wait: its last wait may have ended by a cancellation. */
void rec_wait_clear(struct rec_thread *t);

#endif
