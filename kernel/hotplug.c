// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "hotplug.h"

/* The next CPU after @cpu that is on and may go off; the first one stays on. */
static unsigned int next_cpu(unsigned int cpu)
{
	unsigned int first = cpumask_first(cpu_online_mask);

	cpu = cpumask_next((int)cpu, cpu_online_mask);
	if (cpu >= nr_cpu_ids)
		cpu = cpumask_next((int)first, cpu_online_mask);
	return cpu;
}

static int hotplug_thread(void *arg)
{
	struct lw_hotplug *hotplug = arg;
	unsigned int cpu = 0;
	bool off = false;

	while (!kthread_should_stop()) {
		schedule_timeout_interruptible(
			msecs_to_jiffies(hotplug->period_ms));
		if (off) {
			off = add_cpu(cpu);
			hotplug->ons += !off;
			hotplug->refused += off;
			continue;
		}
		cpu = next_cpu(cpu);
		if (cpu >= nr_cpu_ids)
			continue; /* there is one CPU only */
		off = !remove_cpu(cpu);
		hotplug->offs += off;
		hotplug->refused += !off;
	}
	if (off && !add_cpu(cpu))
		hotplug->ons++;
	return 0;
}

int lw_hotplug_start(struct lw_hotplug *hotplug, u32 period_ms)
{
	struct task_struct *task;

	*hotplug = (struct lw_hotplug){ .period_ms = period_ms };
	if (!period_ms)
		return 0;
	task = kthread_run(hotplug_thread, hotplug, "lw_hotplug");
	if (IS_ERR(task))
		return (int)PTR_ERR(task);
	hotplug->task = task;
	return 0;
}

void lw_hotplug_stop(struct lw_hotplug *hotplug)
{
	if (hotplug->task)
		kthread_stop(hotplug->task);
	hotplug->task = NULL;
}
