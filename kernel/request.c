// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What a user asks the torture for, as one line of text. */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "locks.h"
#include "torture.h"

struct option {
	const char *name;
	size_t at; /* of its u32 in the plan */
	u32 min, max, dflt;
	const char *help;
};

#define BY_CPUS U32_MAX /* as a default: two threads a CPU */

static const struct option options[] = {
#define LKM_OPTION(name, min, max, dflt, help)                                  \
	{                                                                       \
		#name, offsetof(struct lkm_torture_plan, name), min, max, dflt, \
		help                                                            \
	},
#include "options.def"
#undef LKM_OPTION
};

void lkm_torture_list_options(struct seq_file *out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *option = &options[i];

		seq_printf(out, "%s %u %u ", option->name, option->min,
			   option->max);
		if (option->dflt == BY_CPUS)
			seq_puts(out, "2*cpus");
		else
			seq_printf(out, "%u", option->dflt);
		seq_printf(out, " %s\n", option->help);
	}
}

static u32 *field(struct lkm_torture_plan *plan, const struct option *option)
{
	return (u32 *)((char *)plan + option->at);
}

static const struct lk_ops *find_lock(const char *name)
{
	u32 i;

	for (i = 0; i < lkm_lock_count(); i++) {
		if (!strcmp(lkm_lock(i)->name, name))
			return lkm_lock(i);
	}
	return NULL;
}

/*
 * Whether threads may use @a and @b on the same object: modes of one spinlock do,
 * but for one that promises an order.
 */
static bool may_mix(const struct lk_ops *a, const struct lk_ops *b)
{
	u32 bad = LK_FIFO | LK_SLEEPS;

	return a->init == b->init && a->unlock == b->unlock &&
	       !((a->flags | b->flags) & bad);
}

/* "NAME" or "NAME,NAME" */
static int parse_locks(char *names, struct lkm_torture_plan *plan)
{
	char *name;

	if (plan->modes)
		return -EINVAL; /* twice */
	while ((name = strsep(&names, ","))) {
		const struct lk_ops *ops = find_lock(name);

		if (!ops)
			return -ENOENT;
		if (plan->modes == LKM_TORTURE_MODES)
			return -EINVAL;
		if (plan->modes && !may_mix(plan->ops[0], ops))
			return -EINVAL;
		plan->ops[plan->modes++] = ops;
	}
	return 0;
}

static int parse_option(const char *name, const char *value,
			struct lkm_torture_plan *plan)
{
	const struct option *option = options;
	u32 number;
	int err;

	while (strcmp(option->name, name)) {
		if (++option == options + ARRAY_SIZE(options))
			return -EINVAL;
	}
	err = kstrtou32(value, 10, &number);
	if (err)
		return err;
	if (number < option->min || number > option->max)
		return -ERANGE;
	*field(plan, option) = number;
	return 0;
}

static bool is_too_short(u32 ms)
{
	return ms && ms < 20;
}

/* What the options may not be together. */
static int check_plan(struct lkm_torture_plan *plan)
{
	const struct lk_ops *ops = plan->ops[0];
	u32 threads = 2 * num_online_cpus();

	if (!plan->modes)
		return -EINVAL; /* which lock? */
	threads = min(threads, 4096u);
	if (plan->writers == BY_CPUS)
		plan->writers = threads;
	if (plan->readers == BY_CPUS)
		plan->readers = ops->flags & LK_RW ? threads : 0;
	if (plan->readers && !(ops->flags & LK_RW))
		return -EINVAL;
	if (!plan->writers && !plan->readers)
		return -EINVAL;
	if (plan->modes > 1 && !plan->switch_ms)
		return -EINVAL; /* only the first would be used */
	if (plan->interrupts && ops->flags & LK_SLEEPS)
		return -EINVAL;
	/* A waiter with interrupts off must not look like a CPU that hangs. */
	if (plan->interrupts && plan->hold_ns > 50000)
		return -ERANGE;
	/* The main thread looks at the clock each 10 ms. */
	if (is_too_short(plan->stutter_ms) || is_too_short(plan->hotplug_ms) ||
	    is_too_short(plan->switch_ms))
		return -ERANGE;
	return 0;
}

int lkm_torture_parse(char *text, struct lkm_torture_plan *plan)
{
	char *word;
	size_t i;

	*plan = (struct lkm_torture_plan){ 0 };
	for (i = 0; i < ARRAY_SIZE(options); i++)
		*field(plan, &options[i]) = options[i].dflt;
	text = strim(text);
	while ((word = strsep(&text, " "))) {
		char *value = strchr(word, '=');
		int err;

		if (!*word)
			continue; /* two spaces */
		if (!value)
			return -EINVAL;
		*value++ = '\0';
		err = strcmp(word, "lock") ? parse_option(word, value, plan)
					   : parse_locks(value, plan);
		if (err)
			return err;
	}
	return check_plan(plan);
}
