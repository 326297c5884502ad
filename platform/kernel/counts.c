// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What the locks count, by CPU. The parameter count_events starts it, and the
 * parameter events tells the sums.
 */
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "events.h"
#include "module_world.h"

DEFINE_STATIC_KEY_FALSE(lkp_counting);
static DEFINE_PER_CPU(u64[LK_EVENTS], event_sums);

void lkp_count_event(u32 event)
{
	this_cpu_inc(event_sums[event]);
}

u64 lkp_event_sum(u32 event)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu (cpu)
		sum += READ_ONCE(per_cpu(event_sums, cpu)[event]);
	return sum;
}

void lkp_events_reset(void)
{
	int cpu;

	for_each_possible_cpu (cpu)
		memset(per_cpu(event_sums, cpu), 0, sizeof(event_sums));
}

static bool count_events;

/* Parameters are set one at a time. */
static int set_count_events(const char *text, const struct kernel_param *param)
{
	int err = param_set_bool(text, param);

	if (err)
		return err;
	if (count_events)
		static_branch_enable(&lkp_counting);
	else
		static_branch_disable(&lkp_counting);
	return 0;
}

static int get_count_events(char *page, const struct kernel_param *param)
{
	return sysfs_emit(page, "%u\n", count_events);
}

static const struct kernel_param_ops count_events_ops = {
	.set = set_count_events,
	.get = get_count_events,
};

module_param_cb(count_events, &count_events_ops, &count_events, 0644);
MODULE_PARM_DESC(count_events,
		 "1: locks count events in their slow paths (0 or 1, default "
		 "0)");

static int set_nothing(const char *text, const struct kernel_param *param)
{
	return -EPERM;
}

static int get_events(char *page, const struct kernel_param *param)
{
	u32 event;
	int at = 0;

	for (event = 0; event < LK_EVENTS; event++)
		at += sysfs_emit_at(page, at, "%s %llu\n",
				    lk_events[event].name,
				    lkp_event_sum(event));
	return at;
}

static const struct kernel_param_ops events_ops = {
	.set = set_nothing,
	.get = get_events,
};

module_param_cb(events, &events_ops, NULL, 0444);
MODULE_PARM_DESC(events, "how often each event was counted; read only");
