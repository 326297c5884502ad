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

#if !defined(__x86_64__) || !defined(__GLIBC__)
#error "the recorder reads the time-stamp counter of x86-64, and replaces glibc's calls"
#endif

#define EXPORT	 __attribute__((visibility("default")))
#define REC_HELD 32
/* Holds and waits of so many ticks, some 20 microseconds, are watched closely. */
#define REC_LONG (1u << 16)
/* A woken thread that has something to do takes longer before it waits again. */
#define REC_AT_ONCE 2048

static inline u64 rec_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* A lock that a thread holds. */
struct rec_held {
	void *lock;
	struct rec_site *record;
	u64 start;  /* ticks; 0: this hold is not timed */
	u32 weight; /* of how many holds it is the sample; 0: of itself alone */
	u32 asked;  /* its context switches are counted from these */
	u64 slept, preempted;
};

/*
 * A thread's own memory. The kernel clears it in a forked child, so that a child
 * begins anew whatever made it.
 */
struct rec_thread {
	u32 ready; /* 0: also while the recorder itself works, or after a fork */
	u32 busy;
	u32 number;
	u32 depth;
	u64 *index; /* a hash table: tag and place of each record; 0: empty */
	u64 mask, records;
	char *room, *end; /* of the current block */
	struct rec_block *block;
	u32 next_bytes;
	u32 seed;
	struct rec_thread_info *info;
	struct rec_site *lost; /* counts what there was no room for */
	struct rec_thread *next_free;
	u64 next_stack; /* ticks: no stack is taken before */
	void *woken;	/* by the last wait, if its mutex is still held */
	void *woken_mutex;
	u64 woken_at; /* ticks */
	struct rec_held held[REC_HELD];
};

/* What was seen of a lock last. Locks that share an entry overwrite each other's. */
struct rec_owner {
	void *lock;
	u64 site;
	u64 released; /* ticks; only while somebody waits */
	u32 thread;   /* its number plus 1; 0: none */
	u32 wanted;   /* somebody waits, or did a moment ago */
	u64 pad[4];
};

#define REC_OWNER_BITS 13
extern struct rec_owner *rec_owners;

static inline struct rec_owner *rec_owner_of(void *lock)
{
	u64 hash = ((u64)lock >> 2) * 0x9e3779b97f4a7c15ULL;

	return &rec_owners[hash >> (64 - REC_OWNER_BITS)];
}

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
/* Set for good where nothing is to be recorded. */
extern u32 rec_off;

/* The recorder's lock, with signals held back. Not on the path of a call. */
void rec_lock(u64 *signals);
void rec_unlock(u64 signals);
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

/* This thread does not wait: its last wait may have ended by a cancellation. */
void rec_wait_clear(struct rec_thread *t);

/* --- site.c: the records --- */

__cold struct rec_site *rec_site_find(struct rec_thread *t, void *lock,
				      u64 site, u32 kind);
/* NULL: no room for one. */
struct rec_detail *rec_detail(struct rec_thread *t, struct rec_site *s);
struct rec_blame *rec_blame(struct rec_thread *t, const struct rec_site *s,
			    u64 holder_site, u64 holder);
/* @stack: @depth return addresses, from @s's site outwards. */
struct rec_stack *rec_stack(struct rec_thread *t, const struct rec_site *s,
			    void **stack, u32 depth);
__cold void rec_init(void *lock, void *site);

/* A slot of the index: this, and the record's place in units of 8 bytes. */
static inline u32 rec_tag(u64 lock, u64 site, u64 kind)
{
	u64 hash = (lock + site * 0x9e3779b97f4a7c15ULL + kind) *
		   0xc2b2ae3d27d4eb4fULL;

	return (u32)(hash >> 32);
}

static inline void *rec_at(u64 place)
{
	return (char *)rec_file + (place << 3);
}

/* Never NULL: where there is no room, one record of the thread counts for all. */
static inline struct rec_site *rec_site(struct rec_thread *t, void *lock,
					void *site, u32 kind)
{
	u64 slot = t->index[rec_tag((u64)lock, (u64)site, kind) & t->mask];
	struct rec_site *s = rec_at((u32)slot);

	if (likely(s->lock == (u64)lock && s->site == (u64)site &&
		   s->kind == kind && s->what == REC_SITE))
		return s;
	return rec_site_find(t, lock, (u64)site, kind);
}

#endif
