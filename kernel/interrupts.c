// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>

#include "interrupts.h"

struct lw_handler {
	struct hrtimer timer;
	struct irq_work hard;
	struct tasklet_struct soft;
	struct lw_cell *cells;
	const struct lw_torture_plan *plan;
	const u32 *mode;
	struct lw_tally tally[LW_CONTEXTS];
};

/* Shared half of the time, if the lock can be. */
static void visit_from(struct lw_handler *handler, enum lw_context context,
		       enum lw_context cell)
{
	const struct lw_torture_plan *plan = handler->plan;
	const struct lk_ops *ops = plan->ops[READ_ONCE(*handler->mode)];
	struct lw_tally *tally = &handler->tally[context];
	bool read = ops->flags & LK_RW && lw_random(tally) & 1;

	lw_count(&tally->nested, this_cpu_read(lw_waiters) > 0);
	lw_cell_visit(&handler->cells[cell], ops, tally, read, plan->hold_ns);
}

static enum hrtimer_restart run_timer(struct hrtimer *timer)
{
	struct lw_handler *handler =
		container_of(timer, struct lw_handler, timer);

	irq_work_queue(&handler->hard);
	return HRTIMER_NORESTART;
}

static void run_hardirq(struct irq_work *work)
{
	struct lw_handler *handler =
		container_of(work, struct lw_handler, hard);

	visit_from(handler, LW_IN_HARDIRQ, LW_IN_HARDIRQ);
	tasklet_schedule(&handler->soft);
}

/* Its own lock, which a hardirq may interrupt, and then that of all. */
static void run_softirq(struct tasklet_struct *tasklet)
{
	struct lw_handler *handler =
		container_of(tasklet, struct lw_handler, soft);

	visit_from(handler, LW_IN_SOFTIRQ, LW_IN_SOFTIRQ);
	visit_from(handler, LW_IN_SOFTIRQ, LW_IN_HARDIRQ);
}

int lw_interrupts_init(struct lw_interrupts *all, struct lw_cell *cells,
		       const struct lw_torture_plan *plan, const u32 *mode)
{
	int cpu;

	all->handlers = alloc_percpu(struct lw_handler);
	if (!all->handlers)
		return -ENOMEM;
	for_each_possible_cpu (cpu) {
		struct lw_handler *handler = per_cpu_ptr(all->handlers, cpu);
		u32 context;

		hrtimer_init(&handler->timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
		handler->timer.function = run_timer;
		init_irq_work(&handler->hard, run_hardirq);
		tasklet_setup(&handler->soft, run_softirq);
		handler->cells = cells;
		handler->plan = plan;
		handler->mode = mode;
		for (context = 0; context < LW_CONTEXTS; context++)
			handler->tally[context].random =
				0x9e3779b9u * (u32)(cpu * LW_CONTEXTS + 1) +
				context;
	}
	return 0;
}

void lw_interrupts_raise(struct lw_interrupts *all)
{
	struct lw_handler *handler = get_cpu_ptr(all->handlers);
	/* From nanoseconds to a millisecond, each order of size as often. */
	u64 ns = 1ull << lw_random(&handler->tally[LW_IN_TASK]) % 21;

	if (!hrtimer_active(&handler->timer))
		hrtimer_start(&handler->timer, ns_to_ktime(ns),
			      HRTIMER_MODE_REL_PINNED_HARD);
	put_cpu_ptr(all->handlers);
}

void lw_interrupts_stop(struct lw_interrupts *all)
{
	int cpu;

	for_each_possible_cpu (cpu) {
		struct lw_handler *handler = per_cpu_ptr(all->handlers, cpu);

		hrtimer_cancel(&handler->timer);
		irq_work_sync(&handler->hard);
		tasklet_kill(&handler->soft);
	}
}

struct lw_tally lw_interrupts_sum(const struct lw_interrupts *all,
				  enum lw_context context)
{
	struct lw_tally sum = { 0 };
	u32 cell;
	int cpu;

	for_each_possible_cpu (cpu) {
		const struct lw_tally *one =
			&per_cpu_ptr(all->handlers, cpu)->tally[context];

		for (cell = 0; cell < LW_CONTEXTS; cell++)
			sum.writes[cell] += READ_ONCE(one->writes[cell]);
		sum.reads += READ_ONCE(one->reads);
		sum.missed += READ_ONCE(one->missed);
		sum.broken += READ_ONCE(one->broken);
		sum.nested += READ_ONCE(one->nested);
		sum.longest_ns =
			max(sum.longest_ns, READ_ONCE(one->longest_ns));
	}
	return sum;
}

void lw_interrupts_free(struct lw_interrupts *all)
{
	free_percpu(all->handlers);
	all->handlers = NULL;
}
