// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "hotplug.h"

/* The next CPU after @cpu that is on and may go off; the first one stays on. */
static unsigned int next_cpu(unsigned int cpu)
{
	unsigned int first = cpumask_first(cpu_online_mask);
	unsigned int next = cpumask_next((int)cpu, cpu_online_mask);

	if (next >= nr_cpu_ids)
		next = cpumask_next((int)first, cpu_online_mask);
	return next;
}

/* True: it is on, whoever did it. */
static bool bring_on(struct lkm_hotplug *hotplug, unsigned int cpu)
{
	bool on = add_cpu(cpu) >= 0;

	hotplug->ons += on;
	hotplug->refused += !on;
	return on;
}

/* False: the thread is to stop. Its wake-up is seen also if it comes before the sleep. */
static bool rest(u32 ms)
{
	set_current_state(TASK_INTERRUPTIBLE);
	if (!kthread_should_stop())
		schedule_timeout(msecs_to_jiffies(ms));
	__set_current_state(TASK_RUNNING);
	return !kthread_should_stop();
}

static int hotplug_thread(void *arg)
{
	struct lkm_hotplug *hotplug = arg;
	unsigned int cpu = cpumask_first(cpu_online_mask), next;
	unsigned int tries = 0;
	bool off = false;

	while (rest(hotplug->period_ms)) {
		if (off) {
			off = !bring_on(hotplug, cpu);
			continue;
		}
		next = next_cpu(cpu);
		if (next >= nr_cpu_ids)
			continue; /* there is one CPU only */
		cpu = next;
		off = !remove_cpu(cpu);
		hotplug->offs += off;
		hotplug->refused += !off;
	}
	while (off && tries++ < 10) {
		off = !bring_on(hotplug, cpu);
		if (off)
			schedule_timeout_uninterruptible(HZ / 10);
	}
	if (off)
		pr_warn("lockwork: CPU %u stays off: bring it on by hand\n",
			cpu);
	return 0;
}

int lkm_hotplug_start(struct lkm_hotplug *hotplug, u32 period_ms)
{
	struct task_struct *task;

	*hotplug = (struct lkm_hotplug){ .period_ms = period_ms };
	if (!period_ms)
		return 0;
	task = kthread_run(hotplug_thread, hotplug, "lkm_hotplug");
	if (IS_ERR(task))
		return (int)PTR_ERR(task);
	hotplug->task = task;
	return 0;
}

void lkm_hotplug_stop(struct lkm_hotplug *hotplug)
{
	if (hotplug->task)
		kthread_stop(hotplug->task);
	hotplug->task = NULL;
}
