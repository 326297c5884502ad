/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_SIM_THREAD_H
#define LKP_SIM_THREAD_H

/* Threads of the simulated machine: CPUs, sleeping, time. */
#include <atomic.h>
/* -- this CPU: a queued thread keeps it, so it owns the nodes ------------ */

#define LKP_MAX_SLOTS 2047u /* simulated CPUs, virtual ones if there are any */
#define LKP_MAX_NEST  4u

#define queue_enter() lws.preempt(1)
#define queue_exit()  lws.preempt(-1)
#define this_slot()   (lws.cpu() + 1)

/* In a line of its CPU, as the kernel's. */
struct lws_depth {
	u8 depth;
} __attribute__((aligned(64)));

/* A CPU's nodes share no line, nor a pair of lines, with another's. */
#define DEFINE_WAIT_NODES(type, name)                                  \
	static char name[LKP_MAX_SLOTS + 1]                            \
			[(LKP_MAX_NEST * sizeof(type) + 127) & ~127ul] \
		__attribute__((aligned(128)));                         \
	extern type name##_node; /* its type is all that is used */    \
	struct lws_depth name##_depth[LKP_MAX_SLOTS + 1]
#define DECLARE_WAIT_DEPTH(name) extern struct lws_depth name##_depth[]
#define wait_node(name, slot, l) ((__typeof__(name##_node) *)(name)[slot] + (l))
#define wait_depth(name)	 (name##_depth[this_slot()].depth)

/* Nobody forks. */
#define wait_epoch()  ((u16)0)
#define wait_tag()    0u
#define WAIT_TAG_MASK 0u

/* Such a record shares no line with its frame, wherever the compiler puts it. */
#define __wait_record __attribute__((aligned(64)))

/* In simulated memory, so the same in each run of a setup. */
#define address_of(object) lws.address(object)

/* -- where threads run --------------------------------------------------- */

#define this_vcpu()		  lws.cpu()
#define vcpu_is_preempted(vcpu)	  lws.vcpu_is_preempted(vcpu)
#define owner_is_preempted(owner) lws.owner_is_preempted(owner)
/* No count of turns: its locks spin, as the kernel's. */
#define next_owner(last)	   lws.thread()
#define leave_owner(hint)	   WRITE_ONCE(*(hint), next_owner(READ_ONCE(*(hint))))
#define turns_between(hint, later) ((void)(hint), (void)(later), 0u)

/* CPUs that share a last-level cache, by the machine file. */
#define this_cluster()	lws.cluster()
#define cluster_count() lws.clusters()

#define on_hypervisor()	 lws.has_guests()
#define waiters_halt()	 lws.has_guests()
#define cpus_are_short() lws.cpus_are_short()
#define saw_preempted()	 lws.saw_preempted()
/* What a baseline asks of the hypervisor: see CONTRACT.md. */
#define yield_to_vcpu(v) lws.yield_to_vcpu(v)

#define begin_waiting() ((void)0)
#define need_resched()	lws.need_resched()

/* -- time ---------------------------------------------------------------- */

#define local_clock()  lws.clock()
#define give_way()     ((void)0)
#define takes_turns()  false
#define turn_is_over() false
#define end_turn()     false
/* All are equal. */
#define this_priority() 0u

/* -- sections ------------------------------------------------------------ */

/* Interrupts are off, and so is preemption. */
static inline void *section_enter(void *obj)
{
	lws.preempt(1);
	return obj;
}

static inline void section_exit(void *outer)
{
	(void)outer;
	lws.preempt(-1);
}

#define in_section(obj)	      ((void)(obj), false)
#define in_any_section()      false
#define look_later(obj, look) ((void)(obj), (void)(look), true)

/* -- sleeping ------------------------------------------------------------ */

/* A time on local_clock(); NULL is never. */
struct lkp_deadline {
	u64 at;
};

static inline void deadline_after(struct lkp_deadline *deadline, u64 ns)
{
	deadline->at = lws.clock() + ns;
}

static inline bool deadline_within(const struct lkp_deadline *deadline, u64 ns)
{
	return deadline->at <= lws.clock() + ns;
}

static inline int __lws_sleep(u32 *word, u32 value,
			      const struct lkp_deadline *deadline,
			      const struct lws_site *site)
{
	return lws.sleep(word, value, deadline ? deadline->at : UINT64_MAX,
			 site);
}

#define wait_on_value(word, val, deadline, naps) \
	((void)(naps), __lws_sleep(word, val, deadline, __lws_site()))
#define NO_NAPS		 UINT32_MAX
#define wake_value(word) lws.wake(word)

/* Halting is sleeping here. A kick finds its virtual CPU by the word. */
#define should_halt(rounds)	 ((void)(rounds), need_resched())
#define halt_on_value(word, val) wait_on_value(word, val, NULL, 0)
#define kick_value(word, vcpu)	 ((void)(vcpu), wake_value(word))

#define LK_MUTEX_EMBED
#define mutex_outlives_unlock() true
#define spin_outlives_unlock()	true
#define foreign_waiters()	false
#define foreign_unlocks(m)	((void)(m), false)

#endif
