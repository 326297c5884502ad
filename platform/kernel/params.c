// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Parameters: the knobs of the locks, which root may set, and how many queues are
 * divided, which all may read.
 */
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/sysfs.h>

#include "knobs.h"
#include "numa_osq.h"
#include "world.h"

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
	const struct lk_knob *knob = lk_knobs;
	u32 value;
	int err;

	while (knob->value != param->arg)
		knob++;
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

static int set_nothing(const char *text, const struct kernel_param *param)
{
	return -EPERM;
}

static int get_divided(char *page, const struct kernel_param *param)
{
	return sysfs_emit(page, "%u\n", lk_numa_osq_divided());
}

static const struct kernel_param_ops divided_ops = {
	.set = set_nothing,
	.get = get_divided,
};

module_param_cb(numa_divided, &divided_ops, NULL, 0444);
MODULE_PARM_DESC(numa_divided,
		 "numa_osq queues that are divided now; read only");
