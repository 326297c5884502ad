// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The unfair queued spinlock of guests. A fair lock waits for the vCPU whose turn it
 * is, though the hypervisor may not run it. An unfair one is taken by any that runs,
 * and a vCPU that finds it taken queues: so few vCPUs disturb the lock's line, and the
 * head of the queue stops the others when it has lost for long.
 *
 * The word has the layout of the kernel's own queued spinlock as far as others look at
 * it: the locked byte; and not 0 while anybody holds it or waits. The nodes of the
 * queue are other ones, so the choice is made before there is a second CPU, and stays.
 */
#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kvm_para.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <asm/hypervisor.h>
#include <trace/events/lock.h>

#include "halt.h"
#include "qspinlock.h"

static_assert(sizeof(struct qspinlock) == sizeof(struct lk_qspin) &&
	      offsetof(struct qspinlock, locked) ==
		      offsetof(struct lk_qspin, locked) &&
	      _Q_LOCKED_VAL == LK_Q_LOCKED);

DEFINE_STATIC_KEY_FALSE(unfair_spin_key);
EXPORT_SYMBOL(unfair_spin_key);

static enum lk_qspin_mode mode __ro_after_init = LK_QSPIN_STEAL;
/* What the parameters say. */
static bool is_off __initdata, is_given __initdata;
static bool xen_nopvspin __initdata, hv_nopvspin __initdata;

static inline struct lk_qspin *ours(struct qspinlock *lock)
{
	return (struct lk_qspin *)lock;
}

void __lockfunc unfair_spin_lock(struct qspinlock *lock)
{
	u32 val;

	/* One attempt, and then the steps of lk_qspin_lock(), inside of the trace. */
	if (likely(lk_qspin_lock_fast(ours(lock), mode, &val)))
		return;
	trace_contention_begin(lock, LCB_F_SPIN);
	lk_qspin_lock_slow(ours(lock), val, mode);
	trace_contention_end(lock, 0);
}
EXPORT_SYMBOL(unfair_spin_lock);

bool __lockfunc unfair_spin_trylock(struct qspinlock *lock)
{
	return lk_qspin_trylock(ours(lock), mode);
}
EXPORT_SYMBOL(unfair_spin_trylock);

struct named_mode {
	const char *name;
	enum lk_qspin_mode mode;
};

static const struct named_mode modes[] __initconst = {
	{ "steal", LK_QSPIN_STEAL },
	{ "tas", LK_QSPIN_TAS },
	{ "pv", LK_QSPIN_PV },
};

static int __init parse_unfair_spinlock(char *text)
{
	u32 i;

	if (!text)
		return -EINVAL;
	is_off = strcmp(text, "off") == 0;
	is_given = is_off;
	if (is_off)
		return 0;
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strcmp(text, modes[i].name)) {
			mode = modes[i].mode;
			is_given = true;
			return 0;
		}
	}
	pr_warn("unfair_spinlock=%s: not off, steal, tas or pv\n", text);
	return 0;
}
early_param("unfair_spinlock", parse_unfair_spinlock);

/* The code of Xen and Hyper-V parses these two as well, and keeps them to itself. */
static int __init parse_xen_nopvspin(char *text)
{
	xen_nopvspin = true;
	return 0;
}
early_param("xen_nopvspin", parse_xen_nopvspin);

static int __init parse_hv_nopvspin(char *text)
{
	hv_nopvspin = true;
	return 0;
}
early_param("hv_nopvspin", parse_hv_nopvspin);

/* Each of the two is for the guests of one hypervisor. */
static bool __init is_nopvspin(void)
{
	return nopvspin ||
	       (xen_nopvspin && (hypervisor_is_type(X86_HYPER_XEN_PV) ||
				 hypervisor_is_type(X86_HYPER_XEN_HVM))) ||
	       (hv_nopvspin && hypervisor_is_type(X86_HYPER_MS_HYPERV));
}

/*
 * Fair is best where each vCPU has a CPU of its own, and what nopvspin asks for. With one
 * vCPU nobody waits.
 */
static bool __init is_wanted(void)
{
	if (is_off || !boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return false;
	if (is_given && mode == LK_QSPIN_PV && is_nopvspin()) {
		pr_warn("unfair_spinlock=pv: refused, as nopvspin is given\n");
		return false;
	}
	return is_given || !(is_nopvspin() || num_possible_cpus() == 1 ||
			     (kvm_para_available() &&
			      kvm_para_has_hint(KVM_HINTS_REALTIME)));
}

void __init unfair_spin_init(void)
{
	u32 i;

	if (!is_wanted())
		return;
	if (mode == LK_QSPIN_PV)
		lkm_halt_init();
	static_branch_enable(&unfair_spin_key);
	for (i = 0; modes[i].mode != mode; i++)
		;
	pr_info("spinlocks: unfair queued, mode %s\n", modes[i].name);
}
