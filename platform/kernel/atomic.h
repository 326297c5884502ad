/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_KERNEL_ATOMIC_H
#define LKP_KERNEL_ATOMIC_H

/*
 * The kernel world: the kernel's own headers, and the names that they lack. A name
 * that the kernel has, and that is not defined here, is the kernel's own.
 */
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/threads.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/processor.h>

#if !defined(CONFIG_64BIT) || !defined(CONFIG_SMP) || defined(__BIG_ENDIAN)
#error "the locks are for kernels of 64-bit little-endian CPUs, more than one"
#endif
#ifdef CONFIG_PREEMPT_RT
#error "the locks are not for PREEMPT_RT: its spinlocks sleep, its handlers are threads"
#endif

/* -- accesses and fences ------------------------------------------------- */

/* The kernel's own accesses order address dependencies. */
#define READ_ONCE_DEP(x)       READ_ONCE(x)
#define xchg_relaxed_dep(p, v) xchg_relaxed(p, v)

/* A sleeper's full fence does not reach other CPUs: unlocks have one too. */
#define smp_mb_light() smp_mb()
#define smp_mb_heavy() smp_mb()

/* -- waiting on the CPU -------------------------------------------------- */

/* Nobody yields here: the thread that is waited for has a CPU. */
static inline void cpu_relax_wait(u32 *rounds)
{
	++*rounds;
	cpu_relax();
}

/* Nor is anybody stopped. */
#include <stays.h>

#endif
