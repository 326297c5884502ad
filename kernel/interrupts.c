// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>

#include "interrupts.h"

struct lkm_handler {
	struct hrtimer timer;
	struct irq_work hard;
	struct tasklet_struct soft;
	struct lkm_object *objects;
	const struct lkm_torture_plan *plan;
	const u32 *mode;
	struct lkm_tally tally[LKM_CONTEXTS];
};

/* Shared half of the time, if the lock can be. */
static void visit_from(struct lkm_handler *handler, enum lkm_context context,
		       enum lkm_context object)
{
	const struct lkm_torture_plan *plan = handler->plan;
	const struct lk_ops *ops = plan->ops[READ_ONCE(*handler->mode)];
	struct lkm_tally *tally = &handler->tally[context];
	bool read = ops->flags & LK_RW && lkm_random(tally) & 1;

	lkm_count(&tally->nested, this_cpu_read(lkm_waiters) > 0);
	lkm_object_visit(&handler->objects[object], ops, tally, read,
			 plan->hold_ns);
}

static enum hrtimer_restart run_timer(struct hrtimer *timer)
{
	struct lkm_handler *handler =
		container_of(timer, struct lkm_handler, timer);

	irq_work_queue(&handler->hard);
	return HRTIMER_NORESTART;
}

static void run_hardirq(struct irq_work *work)
{
	struct lkm_handler *handler =
		container_of(work, struct lkm_handler, hard);

	visit_from(handler, LKM_IN_HARDIRQ, LKM_IN_HARDIRQ);
	tasklet_schedule(&handler->soft);
}

/* Its own lock, which a hardirq may interrupt, and then that of all. */
static void run_softirq(struct tasklet_struct *tasklet)
{
	struct lkm_handler *handler =
		container_of(tasklet, struct lkm_handler, soft);

	visit_from(handler, LKM_IN_SOFTIRQ, LKM_IN_SOFTIRQ);
	visit_from(handler, LKM_IN_SOFTIRQ, LKM_IN_HARDIRQ);
}

int lkm_interrupts_init(struct lkm_interrupts *all, struct lkm_object *objects,
			const struct lkm_torture_plan *plan, const u32 *mode)
{
	int cpu;

	all->handlers = alloc_percpu(struct lkm_handler);
	if (!all->handlers)
		return -ENOMEM;
	for_each_possible_cpu (cpu) {
		struct lkm_handler *handler = per_cpu_ptr(all->handlers, cpu);
		u32 context;

		hrtimer_init(&handler->timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
		handler->timer.function = run_timer;
		init_irq_work(&handler->hard, run_hardirq);
		tasklet_setup(&handler->soft, run_softirq);
		handler->objects = objects;
		handler->plan = plan;
		handler->mode = mode;
		for (context = 0; context < LKM_CONTEXTS; context++)
			handler->tally[context].random =
				0x9e3779b9u * (u32)(cpu * LKM_CONTEXTS + 1) +
				context;
	}
	return 0;
}

void lkm_interrupts_raise(struct lkm_interrupts *all)
{
	struct lkm_handler *handler = get_cpu_ptr(all->handlers);
	/* From nanoseconds to a millisecond, each order of size as often. */
	u64 ns = 1ull << lkm_random(&handler->tally[LKM_IN_TASK]) % 21;

	if (!hrtimer_active(&handler->timer))
		hrtimer_start(&handler->timer, ns_to_ktime(ns),
			      HRTIMER_MODE_REL_PINNED_HARD);
	put_cpu_ptr(all->handlers);
}

void lkm_interrupts_stop(struct lkm_interrupts *all)
{
	int cpu;

	for_each_possible_cpu (cpu) {
		struct lkm_handler *handler = per_cpu_ptr(all->handlers, cpu);

		hrtimer_cancel(&handler->timer);
		irq_work_sync(&handler->hard);
		tasklet_kill(&handler->soft);
	}
}

struct lkm_tally lkm_interrupts_sum(const struct lkm_interrupts *all,
				    enum lkm_context context)
{
	struct lkm_tally sum = { 0 };
	u32 object;
	int cpu;

	for_each_possible_cpu (cpu) {
		const struct lkm_tally *one =
			&per_cpu_ptr(all->handlers, cpu)->tally[context];

		for (object = 0; object < LKM_CONTEXTS; object++)
			sum.writes[object] += READ_ONCE(one->writes[object]);
		sum.reads += READ_ONCE(one->reads);
		sum.missed += READ_ONCE(one->missed);
		sum.broken += READ_ONCE(one->broken);
		sum.nested += READ_ONCE(one->nested);
		sum.longest_ns =
			max(sum.longest_ns, READ_ONCE(one->longest_ns));
	}
	return sum;
}

void lkm_interrupts_free(struct lkm_interrupts *all)
{
	free_percpu(all->handlers);
	all->handlers = NULL;
}
