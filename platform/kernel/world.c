// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What thread.h cannot say inline: sleeping, and the owner's task. */
#include <linux/hrtimer.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/wait_bit.h>

#include <platform.h>

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
int lkp_wait_on_value(u32 *word, u32 val, const struct lkp_deadline *deadline)
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

bool wake_value(u32 *word)
{
	/* MB: wake_up_var() looks whether the queue is empty without its lock.
	 * Either it sees the sleeper, or the sleeper sees the new value. */
	smp_mb();
	wake_up_var(word);
	return true; /* it does not say */
}
