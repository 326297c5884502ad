// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * How the vCPU of a spinlock's waiter halts, and who wakes it: by the hypervisor's
 * calls where it has some for that (pv_ops.lock), else by HLT and an interrupt. An
 * interrupt wakes only a vCPU that takes interrupts; without them a waiter spins on.
 *
 * Written from: the kernel's paravirt.h, for the calls, and its kvm_wait(), which was
 * read: there too interrupts are off between the look at the byte and the HLT.
 */
#include <linux/cpumask.h>
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <asm/paravirt.h>

#include "halt.h"
#include "qspinlock.h"

DEFINE_STATIC_KEY_FALSE(lkp_waiters_halt);

void __lockfunc halt_on_value(u32 *word, u32 val)
{
	/* To hypervisors a value is a byte; ours are small, the low one is first. */
	pv_wait((u8 *)word, (u8)val);
}

/* A kick that comes before the halt is not lost: it changed the word before. */
void __lockfunc kick_value(u32 *word, u32 vcpu)
{
	pv_kick((int)vcpu);
}

static void __lockfunc wait_for_interrupt(u8 *byte, u8 val)
{
	if (in_nmi() || irqs_disabled()) {
		cpu_relax();
		return;
	}
	local_irq_disable();
	/* Interrupts come on again with the HLT: none is missed between the two. */
	if (READ_ONCE(*byte) == val)
		safe_halt();
	else
		local_irq_enable();
}

/* A CPU that is not online takes no interrupts: its waiter spins. */
static void __lockfunc interrupt(int cpu)
{
	if (cpu_online(cpu))
		smp_send_reschedule(cpu);
}

__visible void __unfair_spin_unlock(struct qspinlock *lock);

__visible void __lockfunc __unfair_spin_unlock(struct qspinlock *lock)
{
	lk_qspin_unlock((struct lk_qspin *)lock);
}
PV_CALLEE_SAVE_REGS_THUNK(__unfair_spin_unlock);

void __init lkm_halt_init(void)
{
	pv_ops.lock.wait = wait_for_interrupt;
	pv_ops.lock.kick = interrupt;
	pv_ops.lock.queued_spin_unlock = PV_CALLEE_SAVE(__unfair_spin_unlock);
	static_branch_enable(&lkp_waiters_halt);
}
