/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_TIMELINE_H
#define REC_TIMELINE_H

/* The records of the timeline: events.c. */
#include "records.h"

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
