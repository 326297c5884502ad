/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_FORMAT_H
#define REC_FORMAT_H

/*
 * The file that the recorder writes, which is also its memory: a shared mapping. The
 * reader, crates/lockwork-profile, has these structs made from this header. What a field
 * means for users is in docs/profile.md.
 *
 *   0           struct rec_file
 *   REC_WAITS   struct rec_wait, REC_MAX_WAITS times
 *   REC_BLOCKS  blocks up to `used`, each a struct rec_block and its content
 *
 * Times are ticks of the time-stamp counter. A thread writes its own blocks only, by
 * plain stores; a reader of a running program may see a record half written.
 */
#include "atomic.h"

#define REC_MAGIC     0x31666f7250776b4cULL /* "LkwProf1" */
#define REC_VERSION   17
#define REC_WAITS     4096
#define REC_MAX_WAITS 1024
#define REC_SHOWN     10 /* locks that a waiting thread is seen to hold */
#define REC_BLOCKS    (REC_WAITS + REC_MAX_WAITS * 128)
#define REC_BUCKETS   40
#define REC_CAPACITY  99614720 /* bytes of a file at most: 95 MiB */
#define REC_CHUNK     32
#define REC_WINDOW    20 /* a window of the timeline is 2^20 ticks */

struct rec_file {
	u64 magic;
	u64 version;
	u64 used; /* bytes of the file that have been given out */
	u64 unseen; /* threads for which there was no memory: nothing of them is counted */
	u64 pid;
	u64 parent;	   /* the process that started it */
	u64 start_ticks;   /* three clocks, read at the same time */
	u64 start_ns;	   /* CLOCK_MONOTONIC */
	u64 start_unix_ns; /* CLOCK_REALTIME */
	u64 last_ticks;	   /* the first two again, at the latest slow step */
	u64 last_ns;
	u64 ticks_per_second; /* as `lockwork profile` measured; 0: it did not */
	u64 threads;	      /* numbers given out; a number is used again */
	u64 ended;	      /* 1: the process ended by exit() */
	u64 refused;	      /* blocks for which there was no room */
	u64 bare;	 /* threads that have no rec_thread_info: no room */
	u64 from_fork;	 /* 1: a child that has not called exec */
	u64 lock[4];	 /* the policy's name */
	u64 command[64]; /* /proc/self/cmdline: words that end by zero bytes */
	u64 cpu_ns; /* at the end by exit(): CPU time of all threads; 0: unknown */
	/*
	 * Then: their voluntary context switches. Of a process that ended otherwise, with those of
	 * its children, if `lockwork` waited for it.
	 */
	u64 slept;
	u64 preempted; /* and involuntary ones */
	u64 seen;      /* 1: `lockwork profile` has seen its end */
	u64 signal;    /* then: which signal made it end; 0: none */
	u64 cpus;      /* on which it might run at its start; 0: unknown */
	u64 all_stacks; /* 1: each acquisition has its stack, if there was room for it */
	/* 1: waits for a mutex at the end of a condition wait are seen, as REC_BACK. */
	u64 sees_back;
	/*
	 * Thread time in futex calls that the program makes by system calls of its own, by samples
	 * of `lockwork profile`; and where most of it is.
	 */
	u64 own_futex_ns;
	u64 own_futex_at;
	/* The same in futex calls of the C library, for nothing that is recorded. */
	u64 other_futex_ns;
	u64 command_bytes; /* in command[]; if that is full, there may be more */
	/* 1: threads locked mutexes of which it is not seen whether they were contended. */
	u64 untried;
	/*
	 * Processes with several threads that the program started and that have no recorder, by samples
	 * of `lockwork profile`; and what one of them is called.
	 */
	u64 unrecorded;
	u64 unrecorded_name[2];
	u64 alive; /* ticks: it ran then, as `lockwork profile` saw; 0: that has not looked */
	u64 born; /* when the process was started, by the kernel's clock; 0: unknown */
	/*
	 * Ticks: the process had just executed another program, as that one's recorder noted or
	 * `lockwork profile` saw; 0: neither did.
	 */
	u64 replaced;
	/*
	 * Processes with several threads that the program started, that have the recorder, and that made no
	 * call that it sees, by samples of `lockwork profile`.
	 */
	u64 silent;
};

/* A thread that waits now, at the index that is its number. */
struct rec_wait {
	u64 lock;  /* 0: it does not wait */
	u64 site;  /* where it called */
	u64 since; /* ticks */
	u64 holder; /* number of the thread that took the lock last, plus 1; 0: unknown */
	/*
	 * What it holds meanwhile, which cannot change while it waits; the newest first. So who
	 * waits for whom is known of all that wait, and not by @holder, which is from when the
	 * wait began.
	 */
	u32 depth; /* of these, or more */
	u32 watched; /* 1: its wait is, so the holders of its lock note what they do */
	u64 held[10]; /* REC_SHOWN */
	/*
	 * Acquisitions by threads of this number that have no rec_thread_info, because there was
	 * no room for one. Numbers from REC_MAX_WAITS on share the places of the others, so some
	 * of theirs may be missed.
	 */
	u64 dropped;
};

#define REC_BLOCK_RECORDS 1
#define REC_BLOCK_MAPS	  2

struct rec_block {
	u32 kind;
	u32 bytes;  /* with this header */
	u32 thread; /* whose records these are */
	u32 used;   /* bytes of content; of records, what is filled */
	u64 pad[6];
};

#include "records.h"
#include "timeline.h"

#endif
