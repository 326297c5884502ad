// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The locks as a kernel module. It names them; nothing uses them yet. */
#include <linux/module.h>

#include "catalogue.h"
#include "world.h"

static int __init lockwork_init(void)
{
	const struct lk_ops *const *ops;

	for (ops = lk_catalogue; *ops; ops++)
		pr_info("lockwork: %s, %u bytes: %s\n", (*ops)->name,
			(*ops)->size, (*ops)->summary);
	return lw_world_start();
}

static void __exit lockwork_exit(void)
{
	lw_world_stop();
}

module_init(lockwork_init);
module_exit(lockwork_exit);
MODULE_DESCRIPTION("Lockwork's locks");
MODULE_LICENSE("Dual MIT/GPL");
