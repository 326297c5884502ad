// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What platform.h cannot say inline: sleeping, the owner's task, parameters. */
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/wait_bit.h>

#include <platform.h>

/* -- parameters ---------------------------------------------------------- */

unsigned int lw_overtake_limit = 64;
unsigned int lw_handover_spins = 20;

static int set_overtake_limit(const char *text,
			      const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, 1000000);
}

static int set_handover_spins(const char *text,
			      const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 0, 10000);
}

static const struct kernel_param_ops overtake_limit_ops = {
	.set = set_overtake_limit,
	.get = param_get_uint,
};
static const struct kernel_param_ops handover_spins_ops = {
	.set = set_handover_spins,
	.get = param_get_uint,
};

module_param_cb(overtake_limit, &overtake_limit_ops, &lw_overtake_limit, 0644);
MODULE_PARM_DESC(overtake_limit,
		 "unlocks that may pass the first sleeper over before one "
		 "hands off to it (1 to 1000000, default 64)");
module_param_cb(handover_spins, &handover_spins_ops, &lw_handover_spins, 0644);
MODULE_PARM_DESC(handover_spins,
		 "rounds an unlock watches for a taker before it wakes a "
		 "sleeper (0 to 10000, default 20)");

/* -- the owner's task ---------------------------------------------------- */

/*
 * Whether the task numbered @owner is off its CPU, asleep or preempted. A task
 * that is gone, or whose number another has by now, means a stale hint: no more
 * than that, as any wrong answer.
 */
bool owner_is_preempted(u32 owner)
{
	struct task_struct *task;
	bool off;

	if (!owner)
		return false; /* nobody has left a hint yet */
	rcu_read_lock();
	task = pid_task(find_pid_ns((int)owner, &init_pid_ns), PIDTYPE_PID);
	off = !task || !owner_on_cpu(task);
	rcu_read_unlock();
	return off;
}

/* -- sleeping ------------------------------------------------------------ */

/*
 * Sleepers queue by the hash of their word's address, on the kernel's queues
 * for variables. A wake-up looks for the address in the queue, and never at the
 * word, which may be gone.
 */
int lw_wait_on_value(u32 *word, u32 val, const struct lw_deadline *deadline)
{
	struct wait_queue_head *queue = __var_waitqueue(word);
	struct wait_bit_queue_entry entry;
	ktime_t expires;
	int err = 0;

	init_wait_var_entry(&entry, word, 0);
	prepare_to_wait_event(queue, &entry.wq_entry, TASK_UNINTERRUPTIBLE);
	if (READ_ONCE(*word) == val) {
		if (deadline)
			expires = deadline->expires;
		/* 0: past the time. Otherwise woken, by whomever. */
		if (!schedule_hrtimeout(deadline ? &expires : NULL,
					HRTIMER_MODE_ABS))
			err = -ETIMEDOUT;
	}
	finish_wait(queue, &entry.wq_entry);
	return err;
}

void wake_value(u32 *word)
{
	/* MB: wake_up_var() looks whether the queue is empty without its lock.
	 * Either it sees the sleeper, or the sleeper sees the new value. */
	smp_mb();
	wake_up_var(word);
}
