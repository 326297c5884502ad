/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_KERNEL_RUN_H
#define LW_KERNEL_RUN_H

/* One run of the torture: what torture.c does, and report.c tells of. */
#include <linux/cache.h>

#include "cell.h"
#include "hotplug.h"
#include "interrupts.h"
#include "torture.h"

struct lw_run;
struct task_struct;

enum lw_state { LW_RUNNING, LW_STOPPING, LW_PASSED, LW_FAILED };

/* One thread's place. */
struct lw_seat {
	struct lw_run *run;
	struct task_struct *task;
	u32 number; /* writers first */
	u32 cpu;    /* where it is pinned */
	bool reads;
	bool done; /* it has left its last lock */
	struct lw_tally tally;
} ____cacheline_aligned;

struct lw_run {
	struct lw_torture_plan plan;
	enum lw_state state;
	u64 started, ended; /* jiffies64 */
	bool full;	    /* it lasted as long as it was asked to */
	bool stop;	    /* asked to end */
	bool rest;	    /* all threads pause */
	u32 mode;	    /* which of the plan's locks is used now */
	u64 switches;
	struct lw_cell cells[LW_CONTEXTS];
	struct lw_interrupts interrupts;
	struct lw_hotplug hotplug;
	u32 seat_count;
	struct lw_seat seats[];
};

/* How many cells the plan uses. */
static inline u32 lw_run_cells(const struct lw_run *run)
{
	return run->plan.interrupts ? LW_CONTEXTS : 1;
}

/* Whether what the locks guarded is as it must be; all threads are done. */
bool lw_run_is_good(const struct lw_run *run);
/* The result, to a file, and to the kernel's log as locktorture does. */
void lw_run_report(const struct lw_run *run, struct seq_file *out);
void lw_run_log(const struct lw_run *run);

#endif
