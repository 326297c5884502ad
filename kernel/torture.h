/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKM_TORTURE_H
#define LKM_TORTURE_H

/*
 * Torture and bench of one lock by kernel threads. What it counts and prints is
 * what the kernel's locktorture does, as Documentation/locking/locktorture.rst
 * describes it: acquisitions of each thread, their total, maximum and minimum, and
 * how often the lock failed to keep others out.
 *
 * One run at a time. While one is on, the module cannot be removed.
 */
#include <linux/types.h>

#include "catalogue.h"

struct seq_file;

#define LKM_TORTURE_MODES 8u /* locks that take turns on one object */

/* All times are in their option's unit; 0 switches the option off. */
struct lkm_torture_plan {
	const struct lk_ops *ops[LKM_TORTURE_MODES];
	u32 modes;   /* how many of them: the first, or several in turns */
	u32 writers; /* threads */
	u32 readers; /* threads; 0 if the lock has no readers */
	u32 seconds;
	u32 hold_ns;	/* mean time inside */
	u32 think_ns;	/* mean time outside */
	u32 stutter_ms; /* length of work, and of the rest after it */
	u32 hotplug_ms; /* between two changes of a CPU */
	u32 switch_ms;	/* between two changes of dynamic_enable and the mode */
	u32 pin;	/* 1: thread n stays on the n-th CPU */
	u32 interrupts; /* 1: hardirqs and softirqs take the lock as well */
};

/*
 * Reads "lock=NAME writers=…" into @plan; @text is changed. 0, or -ENOENT: there is
 * no lock of that name; -ERANGE: a number out of its limits; -EINVAL: anything
 * else. See docs/kernel.md for the options.
 */
int lkm_torture_parse(char *text, struct lkm_torture_plan *plan);
/* One line an option: name, limits, default, what it is. */
void lkm_torture_list_options(struct seq_file *out);

/* 0, or -EBUSY: one is on; -ENOMEM; -EINTR; what the kernel says to a new thread. */
int lkm_torture_start(const struct lkm_torture_plan *plan);
/* Tells it to end before its time. -ENOENT: none is on; -EINTR. */
int lkm_torture_stop(void);
/* What it does, or did last. 0 or -EINTR. */
int lkm_torture_report(struct seq_file *out);
/* Frees what the last run left. No run is on, because a run keeps the module. */
void lkm_torture_exit(void);

#endif
