/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_KERNEL_INTERRUPTS_H
#define LW_KERNEL_INTERRUPTS_H

/*
 * Interrupts that take locks under torture. Each CPU has a timer. When it expires it
 * raises a hardirq (irq_work), which takes a lock and raises a softirq (tasklet), which
 * takes two. The timer expires while a task waits, so that waiters nest on a CPU.
 */
#include "cell.h"
#include "torture.h"

struct lw_interrupts {
	struct lw_handler __percpu *handlers;
};

/*
 * 0 or -ENOMEM. @cells has one of each context. It, @plan and @mode, the number of the
 * plan's lock that is used now, live until lw_interrupts_stop().
 */
int lw_interrupts_init(struct lw_interrupts *all, struct lw_cell *cells,
		       const struct lw_torture_plan *plan, const u32 *mode);
/* An interrupt on this CPU within a millisecond, if none is on its way. */
void lw_interrupts_raise(struct lw_interrupts *all);
/* Waits until none is on its way; nobody raises any more. */
void lw_interrupts_stop(struct lw_interrupts *all);
/* What all of them have done in hardirqs, or in softirqs. */
struct lw_tally lw_interrupts_sum(const struct lw_interrupts *all,
				  enum lw_context context);
void lw_interrupts_free(struct lw_interrupts *all);

#endif
