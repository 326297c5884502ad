/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKM_INTERRUPTS_H
#define LKM_INTERRUPTS_H

/*
 * Interrupts that take locks under torture. Each CPU has a timer. When it expires it
 * raises a hardirq (irq_work), which takes a lock and raises a softirq (tasklet), which
 * takes two. The timer expires while a task waits, so that waiters nest on a CPU.
 */
#include "object.h"
#include "torture.h"

struct lkm_interrupts {
	struct lkm_handler __percpu *handlers;
};

/*
 * 0 or -ENOMEM. @objects has one of each context. It, @plan and @mode, the number of the
 * plan's lock that is used now, live until lkm_interrupts_stop().
 */
int lkm_interrupts_init(struct lkm_interrupts *all, struct lkm_object *objects,
			const struct lkm_torture_plan *plan, const u32 *mode);
/* An interrupt on this CPU within a millisecond, if none is on its way. */
void lkm_interrupts_raise(struct lkm_interrupts *all);
/* Waits until none is on its way; nobody raises any more. */
void lkm_interrupts_stop(struct lkm_interrupts *all);
/* What all of them have done in hardirqs, or in softirqs. */
struct lkm_tally lkm_interrupts_sum(const struct lkm_interrupts *all,
				    enum lkm_context context);
void lkm_interrupts_free(struct lkm_interrupts *all);

#endif
