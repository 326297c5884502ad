/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_RECORDS_H
#define REC_RECORDS_H

/* What the blocks of the recorder's file are filled with: format.h. */
#include "atomic.h"

/* Every record begins with its type and its size. A reader skips types that it does not know. */
#define REC_SITES   1
#define REC_DETAIL  2
#define REC_BLAME   3
#define REC_STACK   4
#define REC_INIT    5
#define REC_THREAD  6
#define REC_EVENTS  7
#define REC_TIMING  8
#define REC_PAD	    9
#define REC_INSIDE  10
#define REC_NAME    11
#define REC_OUTSIDE 12
#define REC_KEPT    13
#define REC_LEFT    14

enum rec_kind {
	REC_MUTEX,
	REC_READ,
	REC_WRITE,
	REC_SPIN,
	REC_COND,
	REC_SIGNAL,
	REC_BROADCAST,
	REC_FUTEX,
	REC_BACK, /* a mutex, at the end of a condition wait: no acquisition */
	REC_KINDS
};

/*
 * One lock, used in one way from one call site, by one thread. All that an uncontended call
 * needs, so that two of them fit into a cache line. It has no header.
 */
struct rec_site {
	u64 lock; /* 0: this place is free */
	u64 site; /* return address of the call; in the highest byte enum rec_kind */
	u64 counted; /* acquisitions, or waits, or signals, times 2^16; and a countdown */
	u32 timing; /* where the struct rec_timing is, in units of 8 bytes; 0: none */
	u32 detail; /* the same of the struct rec_detail */
};
#define REC_KIND_SHIFT	56
#define REC_COUNT_SHIFT 16

/* A header for as many struct rec_site as there is room for. */
struct rec_sites {
	u32 what, bytes; /* its type, as above */
	u64 pad[3];
};

/* The uncontended holds of a site. */
struct rec_timing {
	u32 what, bytes; /* its type, as above */
	u64 held;   /* ticks of those that were timed, each times its weight */
	u64 weight; /* acquisitions that those stand for */
	u64 inner;  /* of these, those of a thread that held the lock already */
	u16 block; /* acquisitions for which the next one that is timed stands */
	u16 rest; /* how many of those for which the last one stood came after it */
	u32 inside; /* where the latest one's struct rec_inside is; 0: none */
};

/* What is kept once a site is contended, or used often. */
struct rec_detail {
	u32 what, bytes; /* its type, as above */
	u64 contended;	 /* acquisitions that found the lock held */
	u64 waited; /* ticks of these; of a condition variable: of all waits */
	u64 longest_wait;
	u64 failed;   /* tries that found it held; signals that met no waiter */
	u64 timeouts; /* waits that ended by their deadline */
	u64 queue; /* sum of the waiters met: by all signals; or by watched waits, weighted */
	u64 longest_queue;
	u64 timed; /* holds that were all timed: contended ones, and after waits */
	u64 timed_held; /* ticks of those */
	u64 longest_hold;
	u64 handovers; /* release to acquisition by a waiter whose wait is watched */
	u64 handovers_for; /* the waits that those stand for */
	u64 handover;	   /* ticks of those, weighted */
	u64 watched; /* waits of which more is known than how long they took */
	u64 watched_for; /* the waits that those stand for */
	u64 slept;	 /* voluntary context switches in those, weighted */
	u64 preempted;	 /* involuntary ones */
	u64 holds_asked; /* the same of holds */
	u64 holds_slept;
	u64 holds_preempted;
	u64 asked_held; /* ticks of those holds */
	u64 asked_cpu;	/* nanoseconds of CPU time of their threads in them */
	u64 met;	/* holds in which a watched wait began */
	u64 met_held; /* ticks of those; of one that was not timed from the first such wait on */
	u64 useless; /* waits of a condition variable entered again at once */
	u64 rare; /* sampled holds that stand for several and are far longer than the mean */
	u64 rare_held, rare_once; /* ticks beyond that, weighted and not */
	u64 owed[2]; /* ticks of waits without a stack, until one has one: short ones, long ones */
	u32 wait[40]; /* bucket n: 2^n ticks up to twice that */
	u32 hold[40];
	u32 handover_time[40];
	u32 away[40]; /* from a timed hold's end to the thread's next call */
};

/* Who held a lock when a thread found it held. */
struct rec_blame {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 site;	 /* the waiter's */
	u64 holder_site; /* 0: unknown */
	u64 holder;	 /* its number plus 1; 0: unknown */
	u64 count; /* waits: a watched one counts for all it stands for, a long one once */
	u64 waited; /* ticks of those */
};

/*
 * The stack of a contended acquisition, or with all_stacks of any; `depth` addresses follow. If
 * the last one is zero, there were more.
 */
struct rec_stack {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 site;
	u64 kind;
	u64 count;  /* acquisitions, and waits that timed out, that had it */
	u64 waited; /* ticks of those */
	u64 depth;
};

/* How often a lock was taken inside another one: the last that its thread had taken. */
struct rec_inside {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 outer;
	u64 count;  /* acquisitions that the timed ones stand for */
	u64 waited; /* ticks of waits for it there, counted in the same way */
};

/*
 * Where a lock was initialized. Up to the record's end follow the return addresses of that
 * call, from @site outwards, and zeros; or nothing.
 */
struct rec_init {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 site;
};

/* A lock that no policy replaces: it stays glibc's. */
struct rec_kept {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 unused; /* 0, where other records have a site */
	u64 since;  /* ticks: of several the latest holds */
	u64 why; /* bits of its kind, mutex_parts.h; 0: it is replaced after all */
};

/* What the program calls a lock. Of several threads' names the latest holds. */
struct rec_name {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 unused;  /* 0, where other records have a site */
	u64 since;   /* ticks */
	u64 name[8]; /* its bytes and a zero */
};

/* A call of a function that locks and returns while the lock is held: wrapper.h. */
struct rec_outside {
	u32 what, bytes; /* its type, as above */
	u64 wrapper;	 /* the call in that function */
	u64 site; /* the call of it, which other records have as theirs */
};

/* What is known of a thread number; the first record of each. */
struct rec_thread_info {
	u32 what, bytes; /* its type, as above */
	u64 tid;	 /* of the latest thread with this number */
	u64 threads;	 /* that had this number */
	u64 dropped; /* acquisitions that are in no struct rec_site: no room */
	u64 unknown; /* unlocks of what this thread had not locked */
	u64 deep; /* holds that were forgotten: its thread held 32 later ones */
	u64 begun; /* ticks: the first call of its thread; 0: none has it now */
	u64 lived; /* ticks from there to the end, of the threads that have ended */
};

/* A thread has ended, and held it still. Of several threads the latest counts. */
struct rec_left {
	u32 what, bytes; /* its type, as above */
	u64 lock;
	u64 site;  /* where it was taken */
	u64 since; /* ticks */
	u64 tid;
};

#endif
