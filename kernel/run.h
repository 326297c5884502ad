/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKM_RUN_H
#define LKM_RUN_H

/* One run of the torture: what torture.c does, and report.c tells of. */
#include <linux/cache.h>

#include "object.h"
#include "hotplug.h"
#include "interrupts.h"
#include "torture.h"

struct lkm_run;
struct task_struct;

enum lkm_state { LKM_RUNNING, LKM_STOPPING, LKM_PASSED, LKM_FAILED };

/* One thread's place. */
struct lkm_seat {
	struct lkm_run *run;
	struct task_struct *task;
	u32 number; /* writers first */
	u32 cpu;    /* where it is pinned */
	bool reads;
	bool done; /* it has left its last lock */
	struct lkm_tally tally;
} ____cacheline_aligned;

struct lkm_run {
	struct lkm_torture_plan plan;
	enum lkm_state state;
	u64 started, ended; /* jiffies64 */
	bool full;	    /* it lasted as long as it was asked to */
	bool stop;	    /* asked to end */
	bool rest;	    /* all threads pause */
	u32 mode;	    /* which of the plan's locks is used now */
	u64 switches;
	struct lkm_object objects[LKM_CONTEXTS];
	struct lkm_interrupts interrupts;
	struct lkm_hotplug hotplug;
	u32 seat_count;
	struct lkm_seat seats[];
};

/* How many objects the plan uses. */
static inline u32 lkm_run_objects(const struct lkm_run *run)
{
	return run->plan.interrupts ? LKM_CONTEXTS : 1;
}

/* Whether what the locks guarded is as it must be; all threads are done. */
bool lkm_run_is_good(const struct lkm_run *run);
/* The result, to a file, and to the kernel's log as locktorture does. */
void lkm_run_report(const struct lkm_run *run, struct seq_file *out);
void lkm_run_log(const struct lkm_run *run);

#endif
