// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * /sys/kernel/debug/lockwork_osq/: a file for each knob of the spinners' queue, which
 * root may read and write; and numa_osq_lock, to read: how many queues are divided now.
 * They are for measurements: no program may depend on them.
 *
 * A write is one number. -EINVAL: it is not; -ERANGE: it is out of the knob's limits.
 * Then nothing changes. The parameters are the same knobs.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kernel.h>

#include "knobs.h"
#include "numa_osq.h"
#include "world.h"

static int get_knob(void *data, u64 *value)
{
	const struct lk_knob *knob = data;

	*value = READ_ONCE(*knob->value);
	return 0;
}

static int set_knob(void *data, u64 value)
{
	return value > U32_MAX ? -ERANGE : lkp_set_knob(data, (u32)value);
}
DEFINE_DEBUGFS_ATTRIBUTE(knob_fops, get_knob, set_knob, "%llu\n");

static int get_divided(void *unused, u64 *value)
{
	*value = lk_numa_osq_divided();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(divided_fops, get_divided, NULL, "%llu\n");

/* A file that cannot be made is missing; the locks work without. */
static int __init controls_init(void)
{
	struct dentry *dir = debugfs_create_dir("lockwork_osq", NULL);
	const struct lk_knob *knob;

	for (knob = lk_knobs; knob->name; knob++)
		debugfs_create_file_unsafe(knob->name, 0600, dir, (void *)knob,
					   &knob_fops);
	debugfs_create_file_unsafe("numa_osq_lock", 0400, dir, NULL,
				   &divided_fops);
	return 0;
}
fs_initcall(controls_init);
