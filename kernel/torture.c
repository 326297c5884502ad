// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* torture.h says what it is. A main thread starts the others, and ends them. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "knobs.h"
#include "run.h"

/* Guards `last`, and who starts and stops. */
static DEFINE_MUTEX(control);
static struct lkm_run
	*last; /* the one that is on, or the last one; NULL: none */

/* Between two looks of the main thread. */
#define TICK msecs_to_jiffies(10)
/* Visits of a thread between two interrupts that it raises. */
#define VISITS_AN_INTERRUPT 8u

/* -- a thread ------------------------------------------------------------ */

/* A CPU that goes off takes the pins of its threads away. */
static void keep_pin(const struct lkm_seat *seat)
{
	if (seat->run->plan.pin && current->nr_cpus_allowed != 1 &&
	    cpu_online(seat->cpu))
		set_cpus_allowed_ptr(current, cpumask_of(seat->cpu));
}

static void visit_once(struct lkm_seat *seat, u64 round)
{
	struct lkm_run *run = seat->run;
	const struct lkm_torture_plan *plan = &run->plan;
	const struct lk_ops *ops = plan->ops[READ_ONCE(run->mode)];
	/* Mostly the tasks' own lock, in whose queue interrupts come. */
	u32 object = round % 4 == 0 ? round / 4 % lkm_run_objects(run) : 0;

	if (plan->interrupts && round % VISITS_AN_INTERRUPT == 0)
		lkm_interrupts_raise(&run->interrupts);
	lkm_object_visit(&run->objects[object], ops, &seat->tally, seat->reads,
			 plan->hold_ns);
	lkm_spend(&seat->tally, plan->think_ns);
}

static int seat_thread(void *arg)
{
	struct lkm_seat *seat = arg;
	struct lkm_run *run = seat->run;
	u64 round = 0;

	set_user_nice(current, MAX_NICE);
	while (!READ_ONCE(run->stop)) {
		if (READ_ONCE(run->rest)) {
			schedule_timeout_interruptible(1);
			continue;
		}
		keep_pin(seat);
		visit_once(seat, round++);
		cond_resched();
	}
	WRITE_ONCE(seat->done, true);
	/* Until kthread_stop(): the thread must not go before. */
	while (!kthread_should_stop())
		schedule_timeout_interruptible(TICK);
	return 0;
}

/* The CPU of thread @n, if it is pinned; some go off and on. */
static u32 nth_cpu(u32 n)
{
	u32 cpu;

	cpus_read_lock();
	n %= num_online_cpus();
	for_each_online_cpu (cpu) {
		if (!n--)
			break;
	}
	cpus_read_unlock();
	return cpu;
}

static int start_seat(struct lkm_seat *seat)
{
	struct task_struct *task;

	task = kthread_create(seat_thread, seat, "lw_%s/%u",
			      seat->reads ? "reader" : "writer", seat->number);
	if (IS_ERR(task))
		return (int)PTR_ERR(task);
	seat->task = task;
	seat->cpu = nth_cpu(seat->number);
	wake_up_process(task);
	return 0;
}

/* -- the main thread ----------------------------------------------------- */

/* Whether a thing of period @ms is due, @now ms after the start; @done so far. */
static bool is_due(u32 ms, u64 now, u64 done)
{
	return ms && now / ms > done;
}

/* The control that the mails switch, and the mode of a lock with several. */
static void switch_mode(struct lkm_run *run, u32 *dynamic)
{
	WRITE_ONCE(run->switches, run->switches + 1);
	WRITE_ONCE(run->mode, run->switches % run->plan.modes);
	*dynamic = !*dynamic;
	WRITE_ONCE(lk_knob_dynamic_enable, *dynamic);
}

static void conduct(struct lkm_run *run)
{
	const struct lkm_torture_plan *plan = &run->plan;
	u32 before = READ_ONCE(lk_knob_dynamic_enable), dynamic = before;
	u64 now = 0;

	run->started = get_jiffies_64();
	WRITE_ONCE(run->rest, false);
	while (!READ_ONCE(run->stop) && now < plan->seconds * 1000ull) {
		schedule_timeout_interruptible(TICK);
		now = jiffies64_to_msecs(get_jiffies_64() - run->started);
		if (is_due(plan->switch_ms, now, run->switches))
			switch_mode(run, &dynamic);
		if (plan->stutter_ms)
			WRITE_ONCE(run->rest, now / plan->stutter_ms & 1);
	}
	run->full = now >= plan->seconds * 1000ull;
	WRITE_ONCE(run->stop, true);
	/* What somebody else has written meanwhile stays. */
	if (READ_ONCE(lk_knob_dynamic_enable) == dynamic)
		WRITE_ONCE(lk_knob_dynamic_enable, before);
}

static void stop_seats(struct lkm_run *run)
{
	u32 i;

	WRITE_ONCE(run->stop, true);
	for (i = 0; i < run->seat_count; i++) {
		if (run->seats[i].task)
			kthread_stop(run->seats[i].task);
		WRITE_ONCE(run->seats[i].done, true);
	}
}

static void end_run(struct lkm_run *run)
{
	WRITE_ONCE(run->state, LKM_STOPPING);
	lkm_hotplug_stop(&run->hotplug);
	stop_seats(run);
	if (run->plan.interrupts)
		lkm_interrupts_stop(&run->interrupts);
	run->ended = get_jiffies_64();
	mutex_lock(&control);
	WRITE_ONCE(run->state, lkm_run_is_good(run) ? LKM_PASSED : LKM_FAILED);
	lkm_run_log(run);
	mutex_unlock(&control);
}

static int main_thread(void *arg)
{
	struct lkm_run *run = arg;

	conduct(run);
	end_run(run);
	module_put_and_kthread_exit(0);
}

/* -- start and stop ------------------------------------------------------ */

static void free_run(struct lkm_run *run)
{
	u32 i;

	if (!run)
		return;
	for (i = 0; i < LKM_CONTEXTS; i++)
		lkm_object_free(&run->objects[i]);
	lkm_interrupts_free(&run->interrupts);
	kvfree(run);
}

static struct lkm_run *new_run(const struct lkm_torture_plan *plan)
{
	u32 seats = plan->writers + plan->readers, i;
	struct lkm_run *run;

	run = kvzalloc(struct_size(run, seats, seats), GFP_KERNEL);
	if (!run)
		return NULL;
	run->plan = *plan;
	run->rest = true; /* until all threads are there */
	run->seat_count = seats;
	for (i = 0; i < seats; i++) {
		struct lkm_seat *seat = &run->seats[i];

		seat->run = run;
		seat->number = i;
		seat->reads = i >= plan->writers;
		seat->tally.random = 0x9e3779b9u * (i + 1);
	}
	for (i = 0; i < lkm_run_objects(run); i++) {
		if (lkm_object_init(&run->objects[i], plan->ops[0],
				    (enum lkm_context)i))
			goto no_memory;
	}
	if (plan->interrupts &&
	    lkm_interrupts_init(&run->interrupts, run->objects, &run->plan,
				&run->mode))
		goto no_memory;
	return run;

no_memory:
	free_run(run);
	return NULL;
}

/* The main thread has the module, and the run, until it ends. */
static int launch(struct lkm_run *run)
{
	struct task_struct *task;
	u32 i;
	int err = 0;

	run->started = get_jiffies_64(); /* for reports until all are there */
	for (i = 0; i < run->seat_count && !err; i++)
		err = start_seat(&run->seats[i]);
	if (!err)
		err = lkm_hotplug_start(&run->hotplug, run->plan.hotplug_ms);
	if (!err) {
		task = kthread_create(main_thread, run, "lkm_torture");
		err = (int)PTR_ERR_OR_ZERO(task);
	}
	if (err) {
		lkm_hotplug_stop(&run->hotplug);
		stop_seats(run);
		if (run->plan.interrupts)
			lkm_interrupts_stop(&run->interrupts);
		return err;
	}
	__module_get(THIS_MODULE);
	wake_up_process(task);
	return 0;
}

static bool is_on(const struct lkm_run *run)
{
	enum lkm_state state = run ? READ_ONCE(run->state) : LKM_PASSED;

	return state == LKM_RUNNING || state == LKM_STOPPING;
}

int lkm_torture_start(const struct lkm_torture_plan *plan)
{
	struct lkm_run *run;
	int err;

	if (mutex_lock_interruptible(&control))
		return -EINTR;
	if (is_on(last)) {
		err = -EBUSY;
		goto out;
	}
	run = new_run(plan);
	err = run ? launch(run) : -ENOMEM;
	if (err) {
		free_run(run);
		goto out;
	}
	free_run(last);
	last = run;
out:
	mutex_unlock(&control);
	return err;
}

int lkm_torture_stop(void)
{
	int err = 0;

	if (mutex_lock_interruptible(&control))
		return -EINTR;
	if (is_on(last))
		WRITE_ONCE(last->stop, true);
	else
		err = -ENOENT;
	mutex_unlock(&control);
	return err;
}

int lkm_torture_report(struct seq_file *out)
{
	if (mutex_lock_interruptible(&control))
		return -EINTR;
	if (last)
		lkm_run_report(last, out);
	else
		seq_puts(out, "state none\n");
	mutex_unlock(&control);
	return 0;
}

void lkm_torture_exit(void)
{
	free_run(last);
	last = NULL;
}
