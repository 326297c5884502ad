// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * /proc/lockwork/: a file for each knob of the locks, with the names that the
 * mails' controls have, which anyone may read and root may write; and
 * numa_osq_lock, to read: how many numa_osq are divided now.
 *
 * A write is one decimal number. -EINVAL: it is not; -ERANGE: it is out of the
 * knob's limits. Then nothing changes. The parameters are the same knobs. The locks of
 * a patched kernel are others, with knobs of their own: kernel/series.
 */
#include <linux/errno.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "knobs.h"
#include "module_world.h"
#include "world.h"

#define DIR "lockwork"

static int knob_show(struct seq_file *out, void *unused)
{
	const struct lk_knob *knob = out->private;

	seq_printf(out, "%u\n", READ_ONCE(*knob->value));
	return 0;
}

static int knob_open(struct inode *inode, struct file *file)
{
	return single_open(file, knob_show, pde_data(inode));
}

static ssize_t knob_write(struct file *file, const char __user *from,
			  size_t size, loff_t *at)
{
	const struct lk_knob *knob = pde_data(file_inode(file));
	u32 value;
	int err = *at ? -EINVAL : kstrtou32_from_user(from, size, 10, &value);

	if (!err)
		err = lkp_set_knob(knob, value);
	return err ? err : (ssize_t)size;
}

static const struct proc_ops knob_ops = {
	.proc_open = knob_open,
	.proc_read = seq_read,
	.proc_write = knob_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static u32 (*divided)(void);

static int divided_show(struct seq_file *out, void *unused)
{
	seq_printf(out, "%u\n", divided());
	return 0;
}

int lkp_proc_start(u32 (*count_divided)(void))
{
	struct proc_dir_entry *dir = proc_mkdir(DIR, NULL);
	const struct lk_knob *knob;

	if (!dir)
		return -ENOMEM;
	divided = count_divided;
	for (knob = lk_knobs; knob->name; knob++) {
		if (!proc_create_data(knob->name, 0644, dir, &knob_ops,
				      (void *)knob))
			goto no_memory;
	}
	if (!proc_create_single("numa_osq_lock", 0444, dir, divided_show))
		goto no_memory;
	return 0;

no_memory:
	lkp_proc_stop();
	return -ENOMEM;
}

void lkp_proc_stop(void)
{
	remove_proc_subtree(DIR, NULL);
}
