/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_KERNEL_THREAD_H
#define LKP_KERNEL_THREAD_H

/*
 * Tasks and CPUs. A holder or waiter of a lock that does not sleep stays on its
 * CPU: its slot is the CPU's. What an interrupt nests is a level deeper, as in a
 * signal handler of the user world.
 */
#include <atomic.h>
/* -- this thread --------------------------------------------------------- */

#define LKP_MAX_SLOTS 16383u /* 14 bits of a 16-bit tail, 0 is nobody */
#define LKP_MAX_NEST  4u     /* task, softirq, hardirq, NMI */

static_assert(NR_CPUS <= LKP_MAX_SLOTS, "a CPU's number must fit in a tail");

/*
 * From one to the other a thread keeps its slot: here, its CPU. They nest. Not traced:
 * what traces them may take a spinlock.
 */
#define queue_enter() preempt_disable_notrace()
#define queue_exit()  preempt_enable_notrace()

/* Between queue_enter() and queue_exit() only; debug kernels complain. */
static inline u32 this_slot(void)
{
	return (u32)smp_processor_id() + 1;
}

#define DEFINE_WAIT_NODES(type, name)                            \
	static DEFINE_PER_CPU_ALIGNED(type[LKP_MAX_NEST], name); \
	DECLARE_WAIT_DEPTH(name);                                \
	DEFINE_PER_CPU(u8, lk_##name##_depth)
#define DECLARE_WAIT_DEPTH(name) DECLARE_PER_CPU(u8, lk_##name##_depth)
#define wait_node(name, slot, level) \
	(&(*per_cpu_ptr(&(name), (int)(slot)-1))[level])
/* Interrupts change it, and put it back: volatile, as READ_ONCE() is. */
#define wait_depth(name) (*(volatile u8 *)this_cpu_ptr(&(lk_##name##_depth)))

/* Nothing forks: one epoch, and the tag of a queued spinlock, bits 10 to 15, stays 0. */
#define wait_epoch()  ((u16)0)
#define wait_tag()    0u
#define WAIT_TAG_MASK 0u

/* The type of a waiter's record on its stack. */
#define __wait_record

/* The number by which a table finds an object. */
#define address_of(object) ((u64)(uintptr_t)(object))

/* -- where threads run --------------------------------------------------- */

/* For vcpu_is_preempted(), which is the kernel's own: it takes a CPU. */
static inline u32 this_vcpu(void)
{
	return (u32)raw_smp_processor_id();
}

/* Clusters of CPUs; cluster.c. Until a CPU was asked, it counts to the first one. */
DECLARE_PER_CPU(u16, lkp_cluster);
extern u32 lkp_cluster_total;
#define cluster_count() READ_ONCE(lkp_cluster_total)
static inline u32 this_cluster(void)
{
	return this_cpu_read(lkp_cluster);
}

/*
 * The hint that the holder of a sleeping lock leaves is its task's number: the
 * CPU that it took the lock on would not tell whether it sleeps.
 */
bool owner_is_preempted(u32 owner);
/* No count of turns: a mutex spins as long as its holder runs. */
#define next_owner(last)	   ((u32)task_pid_nr(current))
#define leave_owner(hint)	   WRITE_ONCE(*(hint), next_owner(READ_ONCE(*(hint))))
#define turns_between(hint, later) ((void)(hint), (void)(later), 0u)

/* Spinlocks in mode auto: not by CPUs here, where waiters keep theirs. */
#define cpus_are_short() false
#define saw_preempted()	 ((void)0)
static inline bool on_hypervisor(void)
{
#ifdef CONFIG_X86
	return boot_cpu_has(X86_FEATURE_HYPERVISOR);
#else
	return false;
#endif
}

/* need_resched() says when to stop; rounds are not counted. */
#define begin_waiting() ((void)0)
/* The scheduler preempts for a sleeper that is woken. */
#define give_way()     ((void)0)
#define takes_turns()  false
#define turn_is_over() false
#define end_turn()     false
/* The kernel's own sleeping locks are FIFO; its rt_mutex is for priorities. */
#define this_priority() 0u

/* -- sections that an interrupt handler may interrupt -------------------- */

/* They do not here: interrupts are off. */
static inline void *section_enter(void *obj)
{
	unsigned long flags;

	local_irq_save(flags);
	return (void *)flags;
}

static inline void section_exit(void *outer)
{
	local_irq_restore((unsigned long)outer);
}

#define in_section(obj)	      ((void)(obj), false)
#define in_any_section()      false
#define look_later(obj, look) ((void)(obj), (void)(look), true)

/* -- sleeping ------------------------------------------------------------ */

/* An absolute time on CLOCK_MONOTONIC; NULL: for ever. */
struct lkp_deadline {
	ktime_t expires;
};

static inline void deadline_after(struct lkp_deadline *deadline, u64 ns)
{
	deadline->expires =
		ktime_add_safe(ktime_get(), min_t(u64, ns, KTIME_MAX));
}

static inline bool deadline_within(const struct lkp_deadline *deadline, u64 ns)
{
	return ktime_before(deadline->expires,
			    ktime_add_safe(ktime_get(), (ktime_t)ns));
}

int lkp_wait_on_value(u32 *word, u32 val, const struct lkp_deadline *deadline);
#define wait_on_value(word, val, deadline, naps) \
	((void)(naps), lkp_wait_on_value(word, val, deadline))
#define NO_NAPS U32_MAX
bool wake_value(u32 *word);

/*
 * A waiter of a spinlock halts its virtual CPU: with UNFAIR_QUEUED_SPINLOCKS, in mode pv,
 * where the hypervisor, or an interrupt, can wake it. Before that it spins for HALT_ROUNDS
 * rounds.
 */
#define HALT_ROUNDS	    (1u << 15)
#define should_halt(rounds) (++*(rounds) > HALT_ROUNDS)
#if defined(CONFIG_UNFAIR_QUEUED_SPINLOCKS) && !defined(MODULE)
DECLARE_STATIC_KEY_FALSE(lkp_waiters_halt);
#define waiters_halt() static_branch_unlikely(&lkp_waiters_halt)
/* Halts while *@word == @val, or less long. */
void halt_on_value(u32 *word, u32 val);
/* Wakes the one halted there; it runs on @vcpu. */
void kick_value(u32 *word, u32 vcpu);
#else
#define waiters_halt() false
/* Nobody comes here. */
static inline void halt_on_value(u32 *word, u32 val)
{
	cpu_relax();
}

static inline void kick_value(u32 *word, u32 vcpu)
{
}
#endif

/* A mutex lives until its unlock has returned; a spinlock may be gone once it is free. */
#define LK_MUTEX_EMBED
#define mutex_outlives_unlock() true
#define spin_outlives_unlock()	false
#define foreign_waiters()	false
#define foreign_unlocks(m)	((void)(m), false)

#endif
