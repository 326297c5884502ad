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
#define REC_VERSION   2
#define REC_WAITS     4096
#define REC_MAX_WAITS 1024
#define REC_BLOCKS    (REC_WAITS + REC_MAX_WAITS * 32)
#define REC_BUCKETS   40
#define REC_CHUNK     32
#define REC_WINDOW    20 /* a window of the timeline is 2^20 ticks */

struct rec_file {
	u64 magic;
	u64 version;
	u64 used;     /* bytes of the file that have been given out */
	u64 capacity; /* `used` never exceeds this */
	u64 pid;
	u64 parent;	   /* the process that started it */
	u64 start_ticks;   /* three clocks, read at the same time */
	u64 start_ns;	   /* CLOCK_MONOTONIC */
	u64 start_unix_ns; /* CLOCK_REALTIME */
	u64 last_ticks; /* the same two clocks again, at the latest slow step */
	u64 last_ns;
	u64 ticks_per_second; /* as `lockwork profile` measured; 0: it did not */
	u64 threads;	      /* numbers given out; a number is used again */
	u64 ended;	      /* 1: the process ended by exit() */
	u64 refused;	      /* blocks for which there was no room */
	u64 from_fork;	      /* 1: a child that has not called exec */
	u64 lock[4];	      /* the policy's name */
	u64 command[64]; /* /proc/self/cmdline: words that end by zero bytes */
	u64 cpu_ns; /* at the end by exit(): CPU time of all threads; 0: unknown */
	u64 slept;     /* then: their voluntary context switches */
	u64 preempted; /* and involuntary ones */
};

/* A thread that waits now, at the index that is its number. */
struct rec_wait {
	u64 lock;  /* 0: it does not wait */
	u64 site;  /* where it called */
	u64 since; /* ticks */
	u64 holder; /* number of the thread that took the lock last, plus 1; 0: unknown */
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

/*
 * Every record begins with its type and its size. A reader skips types that it does not
 * know, so a new one needs no new version.
 */
#define REC_SITE   1
#define REC_DETAIL 2
#define REC_BLAME  3
#define REC_STACK  4
#define REC_INIT   5
#define REC_THREAD 6
#define REC_EVENTS 7

enum rec_kind {
	REC_MUTEX,
	REC_READ,
	REC_WRITE,
	REC_SPIN,
	REC_COND,
	REC_SIGNAL,
	REC_BROADCAST,
	REC_FUTEX,
	REC_KINDS
};

/* One lock, used in one way from one call site, by one thread. */
struct rec_site {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 site;  /* return address of the call */
	u64 count; /* acquisitions; of a condition variable: waits, signals */
	u64 held; /* ticks, of the uncontended holds that were timed, each times its weight */
	u64 weight; /* uncontended acquisitions that those stand for */
	u32 kind;   /* enum rec_kind */
	u32 detail; /* where the struct rec_detail is, in units of 8 bytes; 0: none */
	u32 gap;   /* uncontended acquisitions until the next one is timed */
	u32 since; /* those since the last timed one */
};

/* What is kept once a site is contended, or used often. */
struct rec_detail {
	u32 what, bytes; /* its type, as above */
	u64 contended;	 /* acquisitions that found the lock held */
	u64 waited; /* ticks of these; of a condition variable: of all waits */
	u64 longest_wait;
	u64 failed;   /* tries that found it held */
	u64 timeouts; /* waits that ended by their deadline */
	u64 queue;    /* sum of the waiters met */
	u64 longest_queue;
	u64 timed; /* holds that were all timed: contended ones, and after waits */
	u64 timed_held; /* ticks of those */
	u64 longest_hold;
	u64 handovers;	 /* release to acquisition by a waiter */
	u64 handover;	 /* ticks of those */
	u64 asked;	 /* waits whose context switches were counted */
	u64 slept;	 /* voluntary context switches in those */
	u64 preempted;	 /* involuntary ones */
	u64 holds_asked; /* the same of holds */
	u64 holds_slept;
	u64 holds_preempted;
	u64 useless;  /* waits of a condition variable entered again at once */
	u32 wait[40]; /* bucket n: 2^n ticks up to twice that */
	u32 hold[40];
	u32 hand[40];
	u32 away[40]; /* from a timed hold's end to the thread's next call */
};

/* Who held a lock when a thread found it held. */
struct rec_blame {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 site;	 /* the waiter's */
	u64 holder_site; /* 0: unknown */
	u64 holder;	 /* its number plus 1; 0: unknown */
	u64 count;
	u64 waited; /* ticks */
};

/* The stack of a contended acquisition; `depth` return addresses follow. */
struct rec_stack {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 site;
	u64 kind;
	u64 count;  /* contended acquisitions that it stands for */
	u64 waited; /* ticks of those */
	u64 depth;
};

/* Where a lock was initialized. */
struct rec_init {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 site;
};

/* What is known of a thread number; the first record of each. */
struct rec_thread_info {
	u32 what, bytes; /* its type, as above */
	u64 tid;	 /* of the latest thread with this number */
	u64 threads;	 /* that had this number */
	u64 dropped;	 /* acquisitions for which there was no room */
	u64 unknown;	 /* unlocks of what this thread had not locked */
	u64 deep;	 /* acquisitions beyond 32 locks held at once */
};

/* A contended acquisition, or a hold at whose end others may have waited. */
struct rec_event {
	u64 lock;
	u64 site;
	u64 since;    /* the wait began; 0: it did not wait */
	u64 acquired; /* or the wait timed out; 0: not timed */
	u64 released; /* 0: not yet */
	u64 holder_site; /* who held it when the wait began, as in struct rec_blame */
	u32 holder;
	u32 kind; /* enum rec_kind, and REC_TIMED_OUT */
};
#define REC_TIMED_OUT 0x100

/*
 * Events of a thread; `count` of them follow, in memory for REC_CHUNK. Those that are
 * shorter than a window times 2^level are there only if they began in every 2^level-th
 * window since start_ticks. The highest level of all threads holds for all of them.
 */
struct rec_events {
	u32 what, bytes; /* its type, as above */
	u32 level;
	u32 count;
};

#endif
