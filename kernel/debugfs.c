// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * /sys/kernel/debug/lockwork/, for root:
 *   locks    to read: name, bytes, promises, summary of each lock
 *   options  to read: name, min, max, default, help of each of the torture's
 *   torture  "lock=NAME …" starts, "stop" ends; to read: the result so far
 *   events   to read: how often each event was counted; 0 starts anew
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "events.h"
#include "files.h"
#include "locks.h"
#include "module_world.h"
#include "torture.h"

/* A request is one short line. */
#define REQUEST_MAX 512u

static struct dentry *dir;

/* -- locks, options ------------------------------------------------------ */

/* By the bits of LK_*. */
static const char *const promises[] = { "fifo",	  "rw",		"cancel",
					"sleeps", "keeps_node", "forks" };

static int locks_show(struct seq_file *out, void *unused)
{
	u32 i, bit;

	for (i = 0; i < lkm_lock_count(); i++) {
		const struct lk_ops *ops = lkm_lock(i);
		bool first = true;

		seq_printf(out, "%s %u ", ops->name, ops->size);
		for (bit = 0; bit < ARRAY_SIZE(promises); bit++) {
			if (!(ops->flags & 1u << bit))
				continue;
			seq_printf(out, "%s%s", first ? "" : ",",
				   promises[bit]);
			first = false;
		}
		seq_printf(out, "%s %s\n", first ? "-" : "", ops->summary);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(locks);

static int options_show(struct seq_file *out, void *unused)
{
	lkm_torture_list_options(out);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(options);

/* -- torture ------------------------------------------------------------- */

static int torture_show(struct seq_file *out, void *unused)
{
	return lkm_torture_report(out);
}

static int torture_open(struct inode *inode, struct file *file)
{
	return single_open(file, torture_show, NULL);
}

static int obey_request(char *request)
{
	struct lkm_torture_plan plan;
	int err;

	if (sysfs_streq(request, "stop"))
		return lkm_torture_stop();
	err = lkm_torture_parse(request, &plan);
	return err ? err : lkm_torture_start(&plan);
}

static ssize_t torture_write(struct file *file, const char __user *from,
			     size_t size, loff_t *at)
{
	char *text;
	int err;

	if (*at)
		return -EINVAL; /* a request comes in one piece */
	if (size >= REQUEST_MAX)
		return -E2BIG;
	text = memdup_user_nul(from, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = strlen(text) == size ? obey_request(text) : -EINVAL;
	kfree(text);
	return err ? err : (ssize_t)size;
}

static const struct file_operations torture_fops = {
	.owner = THIS_MODULE,
	.open = torture_open,
	.read = seq_read,
	.write = torture_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* -- events -------------------------------------------------------------- */

static int events_show(struct seq_file *out, void *unused)
{
	u32 event;

	for (event = 0; event < LK_EVENTS; event++)
		seq_printf(out, "%s %llu %s\n", lk_events[event].name,
			   lkp_event_sum(event), lk_events[event].help);
	return 0;
}

static int events_open(struct inode *inode, struct file *file)
{
	return single_open(file, events_show, NULL);
}

static ssize_t events_write(struct file *file, const char __user *from,
			    size_t size, loff_t *at)
{
	u32 value;
	int err = *at ? -EINVAL : kstrtou32_from_user(from, size, 10, &value);

	if (!err && value)
		err = -ERANGE;
	if (err)
		return err;
	lkp_events_reset();
	return (ssize_t)size;
}

static const struct file_operations events_fops = {
	.owner = THIS_MODULE,
	.open = events_open,
	.read = seq_read,
	.write = events_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* -- all of them --------------------------------------------------------- */

/* A file that cannot be made is missing; the module works without. */
void lkm_debugfs_start(void)
{
	dir = debugfs_create_dir("lockwork", NULL);
	debugfs_create_file("locks", 0400, dir, NULL, &locks_fops);
	debugfs_create_file("options", 0400, dir, NULL, &options_fops);
	debugfs_create_file("torture", 0600, dir, NULL, &torture_fops);
	debugfs_create_file("events", 0600, dir, NULL, &events_fops);
}

void lkm_debugfs_stop(void)
{
	debugfs_remove(dir);
}
