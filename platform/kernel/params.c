// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Parameters: the knobs of the locks, which root may set within their limits.
 */
#include <linux/kernel.h>
#include <linux/moduleparam.h>

#include "knobs.h"
#include "world.h"

int lkp_set_knob(const struct lk_knob *knob, u32 value)
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
	return err ? err : lkp_set_knob(knob, value);
}

static const struct kernel_param_ops knob_ops = {
	.set = set_knob,
	.get = param_get_uint,
};

#define LK_KNOB(name, min, max, dflt, words, help)               \
	module_param_cb(name, &knob_ops, &lk_knob_##name, 0644); \
	MODULE_PARM_DESC(name,                                   \
			 help " (" #min " to " #max ", default " #dflt ")");
#include <knobs.def>
