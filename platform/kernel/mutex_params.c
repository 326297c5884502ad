// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Parameters of the mutex in this world, which root may set. */
#include <linux/kernel.h>
#include <linux/moduleparam.h>

#include <platform.h>

#define LK_PARAM(name, expert, min, max, user, kernel, check, help)  \
	unsigned int lkp_##name = kernel;                            \
	static int set_##name(const char *text,                      \
			      const struct kernel_param *param)      \
	{                                                            \
		return param_set_uint_minmax(text, param, min, max); \
	}                                                            \
	static const struct kernel_param_ops name##_ops = {          \
		.set = set_##name,                                   \
		.get = param_get_uint,                               \
	};                                                           \
	module_param_cb(name, &name##_ops, &lkp_##name, 0644);       \
	MODULE_PARM_DESC(name,                                       \
			 help " (" #min " to " #max ", default " #kernel ")");
#include <knobs.def>
