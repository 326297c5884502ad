// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The locks as a kernel module, with their controls and their torture. */
#include <linux/module.h>

#include "files.h"
#include "torture.h"
#include "world.h"

static int __init lockwork_init(void)
{
	int err = lw_world_start();

	if (err)
		return err;
	err = lw_proc_start();
	if (err) {
		lw_world_stop();
		return err;
	}
	lw_debugfs_start();
	return 0;
}

/* No torture is on: it keeps the module. */
static void __exit lockwork_exit(void)
{
	lw_debugfs_stop();
	lw_proc_stop();
	lw_torture_exit();
	lw_world_stop();
}

module_init(lockwork_init);
module_exit(lockwork_exit);
MODULE_DESCRIPTION("Lockwork's locks, their controls and their torture");
MODULE_LICENSE("Dual MIT/GPL");
