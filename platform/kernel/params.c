// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Parameters of the module: the knobs of the locks and of this world, which root
 * may set, and what the locks count, which all may read.
 */
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "events.h"
#include "knobs.h"
#include "numa_osq.h"
#include "world.h"

/* -- knobs --------------------------------------------------------------- */

unsigned int lw_overtake_limit = 64;
unsigned int lw_handover_spins = 20;
static unsigned int count_events;

static const struct lk_knob own_knobs[] = {
	{ .value = &lw_overtake_limit, .min = 1, .max = 1000000 },
	{ .value = &lw_handover_spins, .min = 0, .max = 10000 },
	{ .value = &count_events, .min = 0, .max = 1 },
	{ .value = NULL },
};

static const struct lk_knob *find(const struct lk_knob *knob, const u32 *value)
{
	while (knob->value && knob->value != value)
		knob++;
	return knob->value ? knob : NULL;
}

int lw_set_knob(const struct lk_knob *knob, u32 value)
{
	if (value < knob->min || value > knob->max)
		return -ERANGE;
	WRITE_ONCE(*knob->value, value);
	return 0;
}

/* A number within the limits of the knob that @param is; else nothing changes. */
static int set_knob(const char *text, const struct kernel_param *param)
{
	const struct lk_knob *knob = find(own_knobs, param->arg);
	u32 value;
	int err;

	if (!knob)
		knob = find(lk_knobs, param->arg);
	if (!knob)
		return -ENOENT;
	err = kstrtou32(text, 10, &value);
	return err ? err : lw_set_knob(knob, value);
}

static const struct kernel_param_ops knob_ops = {
	.set = set_knob,
	.get = param_get_uint,
};

#define LK_KNOB(name, min, max, dflt, words, help)               \
	module_param_cb(name, &knob_ops, &lk_knob_##name, 0644); \
	MODULE_PARM_DESC(name,                                   \
			 help " (" #min " to " #max ", default " #dflt ")");
#include "knobs.def"
#undef LK_KNOB

module_param_cb(overtake_limit, &knob_ops, &lw_overtake_limit, 0644);
MODULE_PARM_DESC(overtake_limit,
		 "unlocks that may leave the first sleeper waiting before one "
		 "hands it the mutex (1 to 1000000, default 64)");
module_param_cb(handover_spins, &knob_ops, &lw_handover_spins, 0644);
MODULE_PARM_DESC(handover_spins,
		 "rounds that an unlock waits for a spinning thread to take "
		 "the mutex before it wakes a sleeper (0 to 10000, default "
		 "20)");

/* -- events -------------------------------------------------------------- */

DEFINE_STATIC_KEY_FALSE(lw_counting);
static DEFINE_PER_CPU(u64[LK_EVENTS], event_sums);

void lw_count_event(u32 event)
{
	this_cpu_inc(event_sums[event]);
}

u64 lw_event_sum(u32 event)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu (cpu)
		sum += READ_ONCE(per_cpu(event_sums, cpu)[event]);
	return sum;
}

void lw_events_reset(void)
{
	int cpu;

	for_each_possible_cpu (cpu)
		memset(per_cpu(event_sums, cpu), 0, sizeof(event_sums));
}

/* Parameters are set one at a time. */
static int set_count_events(const char *text, const struct kernel_param *param)
{
	int err = set_knob(text, param);

	if (err)
		return err;
	if (count_events)
		static_branch_enable(&lw_counting);
	else
		static_branch_disable(&lw_counting);
	return 0;
}

static const struct kernel_param_ops count_events_ops = {
	.set = set_count_events,
	.get = param_get_uint,
};

module_param_cb(count_events, &count_events_ops, &count_events, 0644);
MODULE_PARM_DESC(count_events,
		 "1: locks count events in their slow paths (0 or 1, default "
		 "0)");

/* -- to read ------------------------------------------------------------- */

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
				    lk_events[event].name, lw_event_sum(event));
	return at;
}

static int get_divided(char *page, const struct kernel_param *param)
{
	return sysfs_emit(page, "%u\n", lk_numa_osq_divided());
}

static const struct kernel_param_ops events_ops = {
	.set = set_nothing,
	.get = get_events,
};

static const struct kernel_param_ops divided_ops = {
	.set = set_nothing,
	.get = get_divided,
};

module_param_cb(events, &events_ops, NULL, 0444);
MODULE_PARM_DESC(events, "how often each event was counted; read only");
module_param_cb(numa_divided, &divided_ops, NULL, 0444);
MODULE_PARM_DESC(numa_divided,
		 "numa_osq queues that are divided now; read only");
