// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>

#include "interrupts.h"

struct lw_handler {
	struct irq_work hard;
	struct tasklet_struct soft;
	struct lw_cell *cells;
	const struct lk_ops *ops;
	u32 hold_ns;
	struct lw_tally tally[LW_CONTEXTS];
};

/* Shared each second time, if the lock can be. */
static void visit(struct lw_handler *handler, enum lw_context context,
		  enum lw_context cell)
{
	struct lw_tally *tally = &handler->tally[context];
	bool read = handler->ops->flags & LK_RW && tally->random & 1;

	lw_cell_visit(&handler->cells[cell], handler->ops, tally, read,
		      handler->hold_ns);
}

static void run_hardirq(struct irq_work *work)
{
	struct lw_handler *handler =
		container_of(work, struct lw_handler, hard);

	visit(handler, LW_IN_HARDIRQ, LW_IN_HARDIRQ);
	tasklet_schedule(&handler->soft);
}

/* Its own lock, which a hardirq may interrupt, and then that of all. */
static void run_softirq(struct tasklet_struct *tasklet)
{
	struct lw_handler *handler =
		container_of(tasklet, struct lw_handler, soft);

	visit(handler, LW_IN_SOFTIRQ, LW_IN_SOFTIRQ);
	visit(handler, LW_IN_SOFTIRQ, LW_IN_HARDIRQ);
}

int lw_interrupts_init(struct lw_interrupts *all, struct lw_cell *cells,
		       const struct lk_ops *ops, u32 hold_ns)
{
	int cpu;

	all->handlers = alloc_percpu(struct lw_handler);
	if (!all->handlers)
		return -ENOMEM;
	for_each_possible_cpu (cpu) {
		struct lw_handler *handler = per_cpu_ptr(all->handlers, cpu);
		u32 context;

		init_irq_work(&handler->hard, run_hardirq);
		tasklet_setup(&handler->soft, run_softirq);
		handler->cells = cells;
		handler->ops = ops;
		handler->hold_ns = hold_ns;
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

	irq_work_queue(&handler->hard);
	put_cpu_ptr(all->handlers);
}

void lw_interrupts_stop(struct lw_interrupts *all)
{
	int cpu;

	for_each_possible_cpu (cpu) {
		struct lw_handler *handler = per_cpu_ptr(all->handlers, cpu);

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
			sum.writes[cell] += one->writes[cell];
		sum.reads += one->reads;
		sum.missed += one->missed;
		sum.broken += one->broken;
		sum.longest_ns = max(sum.longest_ns, one->longest_ns);
	}
	return sum;
}

void lw_interrupts_free(struct lw_interrupts *all)
{
	free_percpu(all->handlers);
	all->handlers = NULL;
}
