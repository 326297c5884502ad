// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Parameters of the mutex in this world, which root may set. */
#include <linux/kernel.h>
#include <linux/moduleparam.h>

#include <platform.h>

unsigned int lkp_overtake_limit = 64;
unsigned int lkp_handover_spins = 20;

static int set_overtake(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, 1000000);
}

static int set_handover(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 0, 10000);
}

static const struct kernel_param_ops overtake_ops = {
	.set = set_overtake,
	.get = param_get_uint,
};

static const struct kernel_param_ops handover_ops = {
	.set = set_handover,
	.get = param_get_uint,
};

module_param_cb(overtake_limit, &overtake_ops, &lkp_overtake_limit, 0644);
MODULE_PARM_DESC(overtake_limit,
		 "unlocks that may leave the first sleeper waiting before one "
		 "hands it the mutex (1 to 1000000, default 64)");
module_param_cb(handover_spins, &handover_ops, &lkp_handover_spins, 0644);
MODULE_PARM_DESC(handover_spins,
		 "rounds that an unlock waits for a spinning thread to take "
		 "the mutex before it wakes a sleeper (0 to 10000, default "
		 "20)");
