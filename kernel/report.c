// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/seq_file.h>

#include "run.h"

/* What the threads of one kind have done. */
struct summary {
	u32 threads;
	u64 total, max, min; /* acquisitions; max and min of a thread */
	u64 missed, broken, longest_ns;
	u64 cv_permille; /* of the threads' acquisitions */
};

static u64 taken(const struct lkm_tally *tally)
{
	u64 sum = READ_ONCE(tally->reads);
	u32 i;

	for (i = 0; i < LKM_CONTEXTS; i++)
		sum += READ_ONCE(tally->writes[i]);
	return sum;
}

/* The squares of 4096 larger deviations would not fit in 64 bits. */
#define DEVIATION_MAX (1u << 25)

/* Its square root is the standard deviation. */
static u64 variance(const struct lkm_run *run, bool reads, u64 mean,
		    u32 threads)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < run->seat_count; i++) {
		const struct lkm_seat *seat = &run->seats[i];
		u64 mine = taken(&seat->tally);
		u64 off = mine > mean ? mine - mean : mean - mine;

		off = min_t(u64, off, DEVIATION_MAX);
		if (seat->reads == reads)
			sum += off * off;
	}
	return div_u64(sum, threads);
}

static struct summary summarize(const struct lkm_run *run, bool reads)
{
	struct summary all = { .min = U64_MAX };
	u64 mean;
	u32 i;

	for (i = 0; i < run->seat_count; i++) {
		const struct lkm_seat *seat = &run->seats[i];
		u64 mine = taken(&seat->tally);

		if (seat->reads != reads)
			continue;
		all.threads++;
		all.total += mine;
		all.max = max(all.max, mine);
		all.min = min(all.min, mine);
		all.missed += READ_ONCE(seat->tally.missed);
		all.broken += READ_ONCE(seat->tally.broken);
		all.longest_ns =
			max(all.longest_ns, READ_ONCE(seat->tally.longest_ns));
	}
	if (!all.threads)
		return (struct summary){ 0 };
	mean = div_u64(all.total, all.threads);
	if (mean)
		all.cv_permille = div64_u64(
			1000ull * int_sqrt64(variance(run, reads, mean,
						      all.threads)),
			mean);
	return all;
}

/* Acquisitions alone of @object, by all that took it. */
static u64 writes_of(const struct lkm_run *run, u32 object)
{
	struct lkm_tally handlers;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < run->seat_count; i++)
		sum += run->seats[i].tally.writes[object];
	if (run->plan.interrupts) {
		handlers = lkm_interrupts_sum(&run->interrupts, LKM_IN_SOFTIRQ);
		sum += handlers.writes[object];
		handlers = lkm_interrupts_sum(&run->interrupts, LKM_IN_HARDIRQ);
		sum += handlers.writes[object];
	}
	return sum;
}

/* After the run: counts that were lost because two were inside at once. */
static u64 lost_counts(const struct lkm_run *run)
{
	u64 sum = 0;
	u32 object;

	for (object = 0; object < lkm_run_objects(run); object++) {
		u64 made = writes_of(run, object);
		u64 found = run->objects[object].count[0];

		sum += made > found ? made - found : found - made;
	}
	return sum;
}

static u64 broken_by_handlers(const struct lkm_run *run)
{
	if (!run->plan.interrupts)
		return 0;
	return lkm_interrupts_sum(&run->interrupts, LKM_IN_SOFTIRQ).broken +
	       lkm_interrupts_sum(&run->interrupts, LKM_IN_HARDIRQ).broken;
}

bool lkm_run_is_good(const struct lkm_run *run)
{
	struct summary writes = summarize(run, false);
	struct summary reads = summarize(run, true);

	/* A lock that nobody ever got is no good either. */
	if (run->full && ((writes.threads && !writes.total) ||
			  (reads.threads && !reads.total)))
		return false;
	return !writes.broken && !reads.broken && !broken_by_handlers(run) &&
	       !lost_counts(run);
}

/* -- what users read ----------------------------------------------------- */

static const char *const states[] = { "running", "stopping", "passed",
				      "failed" };

static void report_side(const struct lkm_run *run, struct seq_file *out,
			bool reads)
{
	struct summary all = summarize(run, reads);

	seq_printf(
		out,
		"%s threads %u total %llu max %llu min %llu cv_permille %llu "
		"missed %llu longest_ns %llu fail %llu\n",
		reads ? "reads" : "writes", all.threads, all.total, all.max,
		all.min, all.cv_permille, all.missed, all.longest_ns,
		all.broken);
}

static void report_handlers(const struct lkm_run *run, struct seq_file *out,
			    enum lkm_context context, const char *name)
{
	struct lkm_tally all = lkm_interrupts_sum(&run->interrupts, context);

	seq_printf(out,
		   "%s total %llu nested %llu missed %llu longest_ns %llu fail "
		   "%llu\n",
		   name, taken(&all), all.nested, all.missed, all.longest_ns,
		   all.broken);
}

/* Threads that have not left their last lock. */
static u32 still_inside(const struct lkm_run *run)
{
	u32 count = 0, i;

	for (i = 0; i < run->seat_count; i++)
		count += !READ_ONCE(run->seats[i].done);
	return count;
}

void lkm_run_report(const struct lkm_run *run, struct seq_file *out)
{
	const struct lkm_torture_plan *plan = &run->plan;
	enum lkm_state state = READ_ONCE(run->state);
	bool over = state == LKM_PASSED || state == LKM_FAILED;
	u64 end = over ? run->ended : get_jiffies_64();
	u32 i;

	seq_printf(out, "state %s\n", states[state]);
	seq_puts(out, "lock ");
	for (i = 0; i < plan->modes; i++)
		seq_printf(out, "%s%s", i ? "," : "", plan->ops[i]->name);
	seq_printf(out, "\nmilliseconds %llu\n",
		   jiffies64_to_msecs(end - run->started));
	if (over)
		seq_printf(out, "lost %llu\n", lost_counts(run));
	if (state == LKM_STOPPING)
		seq_printf(out, "not_stopped %u\n", still_inside(run));
	report_side(run, out, false);
	if (plan->readers)
		report_side(run, out, true);
	if (plan->interrupts) {
		report_handlers(run, out, LKM_IN_HARDIRQ, "hardirqs");
		report_handlers(run, out, LKM_IN_SOFTIRQ, "softirqs");
	}
	if (plan->hotplug_ms)
		seq_printf(out, "hotplug off %llu on %llu refused %llu\n",
			   READ_ONCE(run->hotplug.offs),
			   READ_ONCE(run->hotplug.ons),
			   READ_ONCE(run->hotplug.refused));
	if (plan->switch_ms)
		seq_printf(out, "switches %llu\n", READ_ONCE(run->switches));
}

static void log_side(const struct lkm_run *run, bool reads)
{
	struct summary all = summarize(run, reads);
	const char *name = run->plan.ops[0]->name;

	if (!all.threads)
		return;
	pr_info("lockwork: %s-torture: %s:  Total: %llu  Max/Min: %llu/%llu%s  "
		"Fail: %llu%s\n",
		name, reads ? "Reads" : "Writes", all.total, all.max, all.min,
		all.max / 2 > all.min ? " ???" : "", all.broken,
		all.broken ? " !!!" : "");
}

void lkm_run_log(const struct lkm_run *run)
{
	const char *name = run->plan.ops[0]->name;
	log_side(run, false);
	log_side(run, true);
	pr_info("lockwork: %s-torture: Lost: %llu  Fail by handlers: %llu\n",
		name, lost_counts(run), broken_by_handlers(run));
	if (run->state == LKM_PASSED)
		pr_info("lockwork: %s-torture: End of test: SUCCESS\n", name);
	else
		pr_alert("lockwork: %s-torture: End of test: FAILURE !!!\n",
			 name);
}
