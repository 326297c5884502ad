// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The locks as a kernel module, with their controls and their torture. */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sysfs.h>

#include "files.h"
#include "module_world.h"
#include "numa_osq.h"
#include "torture.h"
#include "world.h"

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

static int __init lockwork_init(void)
{
	int err = lkp_world_start();

	if (err)
		return err;
	err = lkp_proc_start(lk_numa_osq_divided);
	if (err) {
		lkp_world_stop();
		return err;
	}
	lkm_debugfs_start();
	return 0;
}

/* No torture is on: it keeps the module. */
static void __exit lockwork_exit(void)
{
	lkm_debugfs_stop();
	lkp_proc_stop();
	lkm_torture_exit();
	lkp_world_stop();
}

module_init(lockwork_init);
module_exit(lockwork_exit);
MODULE_DESCRIPTION("Lockwork's locks, their controls and their torture");
MODULE_LICENSE("Dual MIT/GPL");
