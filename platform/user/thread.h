/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_USER_THREAD_H
#define LKP_USER_THREAD_H

/*
 * Threads of a Linux process: queue slots, fork epochs, CPUs, sleeping, time. Two
 * hosts use this world, the library and the interposer. Where they differ, host.h
 * says what holds: it is in platform/library/ and in platform/preload/.
 */
#include <atomic.h>
#include <cluster.h>
#include <forks.h>
/* -- this thread --------------------------------------------------------- */

#define LKP_MAX_SLOTS 16383u /* 14 bits of a 16-bit tail, 0 is nobody */
#define LKP_MAX_NEST  4u     /* the other two bits: nesting levels */

/* Signal handlers that interrupt each other in sections. */
#define LKP_MAX_SECTIONS 8u
/* Objects whose sections other threads are in, and that handlers have left for later. */
#define LKP_MAX_OTHERS 4u
#define LKP_MAX_LATER  (LKP_MAX_SECTIONS + LKP_MAX_OTHERS)

struct lkp_self {
	u32 slot;	 /* 1 … LKP_MAX_SLOTS, 0: none (yet) */
	u16 epoch;	 /* the fork epoch that slot belongs to */
	u16 retry;	 /* slow paths left before asking for a slot again */
	u32 spins;	 /* rounds since begin_waiting() */
	u32 tid;	 /* kernel thread id, see lkp_tid() */
	u32 readers;	 /* read locks held (interposer) */
	u32 depth;	 /* of sections, see section_enter() */
	bool cancel_in;	 /* asynchronous cancellation is let in during sleeps */
	bool keeps_slot; /* see lkp_slot_keep() */
	bool woken;	 /* its last sleep ended by a wake-up, see wait.c */
	bool goes_on;	 /* its next sleep belongs to the same wait */
	bool looks_later; /* there may be something in later */
	u16 tid_epoch;
	u16 asked;	/* calls of lkp_cpus_are_short() */
	u32 priority;	/* as it was when the thread last asked, see wait.c */
	u32 turn_asked; /* calls of lkp_turn_is_over() */
	u64 priority_asked; /* when; 0: never */
	u64 turn_began;	    /* 0: asleep since the last of them; see wait.c */
	u16 sections_epoch; /* the fork epoch in which the first of them began */
	/* Their objects; NULL: not begun, or over. */
	void *sections[LKP_MAX_SECTIONS];
	uintptr_t later[LKP_MAX_LATER]; /* see look_later(); 0: nothing */
};

extern __thread struct lkp_self lkp_self
	__attribute__((tls_model("initial-exec")));

/*
 * The fork epoch. *lkp_fork_page turns 0 in a forked child (MADV_WIPEONFORK),
 * whatever made the child and whenever handlers run. It is mapped before the
 * first waiter queues.
 */
extern u32 *lkp_fork_page;
extern u16 lkp_epoch;
__cold void lkp_after_fork(void);
__cold u32 lkp_slot_get(void);
/*
 * This thread's slot stays its own after its end: a call that was cut off may have left
 * a node of it in a queue.
 */
__cold void lkp_slot_keep(void);

static inline u16 wait_epoch(void)
{
	if (unlikely(!lkp_fork_is_done(lkp_fork_state(&lkp_fork_page))))
		lkp_after_fork();
	return READ_ONCE(lkp_epoch);
}

/* The number by which a table finds an object. */
#define address_of(object) ((u64)(uintptr_t)(object))

/* A slot is the thread's own here, wherever it runs: nothing to hold on to. */
#define queue_enter() ((void)0)
#define queue_exit()  ((void)0)

/* This thread's slot, or 0 where all are taken: then it waits without a node. */
static inline u32 this_slot(void)
{
	u16 epoch = wait_epoch();

	if (likely(lkp_self.slot && lkp_self.epoch == epoch))
		return lkp_self.slot;
	return lkp_slot_get();
}

/* Storage for queue nodes: per slot, LKP_MAX_NEST levels. */
#define DEFINE_WAIT_NODES(type, name)                                          \
	static type name[LKP_MAX_SLOTS + 1][LKP_MAX_NEST] __cacheline_aligned; \
	DECLARE_WAIT_DEPTH(name);                                              \
	__thread u8 lk_##name##_depth
#define DECLARE_WAIT_DEPTH(name)             \
	extern __thread u8 lk_##name##_depth \
		__attribute__((tls_model("initial-exec")))
#define wait_node(name, slot, level) (&(name)[slot][level])
#define wait_depth(name)	     (lk_##name##_depth)

/* -- where threads run --------------------------------------------------- */

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern ptrdiff_t lkp_rseq_cpu;
__cold u32 lkp_vcpu_slow(void);
extern u32 lkp_watch_owner;

/*
 * A word at @offset from the thread pointer. One load of the offset, one of the
 * word: what the compiler makes of __builtin_thread_pointer() loads that too,
 * and three loads in a row show in an uncontended lock.
 */
static inline u32 lkp_thread_word(ptrdiff_t offset)
{
#if defined(__x86_64__)
	u32 word;

	__asm__ __volatile__("movl %%fs:(%1), %0" : "=r"(word) : "r"(offset));
	return word;
#else
	return *(volatile u32 *)((char *)__builtin_thread_pointer() + offset);
#endif
}

/* The CPU this thread runs on, below 2^30; bit 31 set: unknown. */
static inline u32 this_vcpu(void)
{
	u32 cpu = lkp_thread_word(lkp_rseq_cpu);

	if (unlikely((int)cpu < 0))
		return lkp_vcpu_slow();
	return cpu;
}

/*
 * True if the thread that published @vcpu (another one than the caller) cannot
 * be running: the caller is on that very CPU. False means "not known".
 */
static inline bool vcpu_is_preempted(u32 vcpu)
{
	return vcpu == this_vcpu() && (int)vcpu >= 0 &&
	       READ_ONCE(lkp_watch_owner);
}

/* What a spinlock in mode auto asks; see place.c. Slow paths only. */
bool lkp_cpus_are_short(void);
void lkp_saw_preempted(void);
extern u32 lkp_hypervisor;
#define cpus_are_short() lkp_cpus_are_short()
#define saw_preempted()	 lkp_saw_preempted()
#define on_hypervisor()	 (READ_ONCE(lkp_hypervisor) != 0)

/* Clusters of CPUs; see cluster.c. */
#define LKP_MAX_CPUS 8192u
extern u16 lkp_cluster_of[LKP_MAX_CPUS];
extern u32 lkp_cluster_total;
__cold u32 lkp_cluster_slow(u32 cpu);
__cold u32 lkp_cluster_total_slow(void);

/* The cluster of the CPU that this thread runs on, or ran on just now. */
static inline u32 this_cluster(void)
{
	u32 cpu = this_vcpu();

	if (likely(cpu < LKP_MAX_CPUS)) {
		u32 n = lkp_cluster_entry(&lkp_cluster_of[cpu]);

		if (likely(n))
			return n - 1u;
	}
	return lkp_cluster_slow(cpu);
}

/* How many there are, at least 1. */
static inline u32 cluster_count(void)
{
	u32 n = READ_ONCE(lkp_cluster_total);

	return likely(n) ? n : lkp_cluster_total_slow();
}

/*
 * A holder's hint to those that would spin for it: where it runs, in bits 0 to 12, and
 * how many held the lock before, in bits 13 to 29. Bit 31 as in this_vcpu(). A CPU past
 * 8191 spoils both, which are no more than hints.
 */
#define LKP_OWNER_TURN	0x00002000u
#define LKP_OWNER_TURNS 0x3fffe000u
#define LKP_OWNER_CPU	0x00001fffu

static inline u32 lkp_owner_on(u32 cpu, u32 last)
{
	return ((last + LKP_OWNER_TURN) & LKP_OWNER_TURNS) | cpu;
}

static inline u32 next_owner(u32 last)
{
	return lkp_owner_on(this_vcpu(), last);
}

/*
 * Leaves the next owner of *@hint there. Where this_vcpu() takes a call, all is done in
 * the call: a lock that left its hint after it would have a stack frame, which costs an
 * uncontended pair a tenth.
 */
void lkp_leave_owner_slow(u32 *hint);

static inline void leave_owner(u32 *hint)
{
	u32 cpu = lkp_thread_word(lkp_rseq_cpu);

	if (unlikely((int)cpu < 0)) {
		lkp_leave_owner_slow(hint);
		return;
	}
	WRITE_ONCE(*hint, lkp_owner_on(cpu, READ_ONCE(*hint)));
}

static inline bool owner_is_preempted(u32 owner)
{
	return vcpu_is_preempted(owner & LKP_OWNER_CPU);
}

/* Modulo 131,072. */
static inline u32 turns_between(u32 hint, u32 later)
{
	if (unlikely((int)(hint | later) < 0))
		return 0;
	return ((later - hint) & LKP_OWNER_TURNS) / LKP_OWNER_TURN;
}

/* -- how long to spin ---------------------------------------------------- */

extern u32 lkp_spin_budget;

static inline void begin_waiting(void)
{
	lkp_self.spins = 0;
}

/* User space is not told; a spinner that used its budget up acts as if. */
static inline bool need_resched(void)
{
	return unlikely(lkp_self.spins++ >= lkp_spin_budget);
}

/* -- time ---------------------------------------------------------------- */

/* Nanoseconds on a clock that never goes back. */
#define local_clock() lkp_local_clock()
u64 lkp_local_clock(void);
/* A sleeper's place on a list: the higher, the sooner; equals in order of arrival. */
u32 lkp_priority(void);
#define this_priority() lkp_priority()
/* Lets another thread have this CPU; a real-time thread keeps it. */
void lkp_give_way(void);
#define give_way() lkp_give_way()
/* A thread's turn: the time since its last sleep; see wait.c. */
bool lkp_turn_is_over(void);
bool lkp_end_turn(void);
#define takes_turns()  true
#define turn_is_over() lkp_turn_is_over()
#define end_turn()     lkp_end_turn()

/* -- sections ------------------------------------------------------------ */

/*
 * A section that a signal handler of the same thread must not wait for, as an
 * interrupt handler must not in the kernel. Signals stay enabled: to block them
 * costs two system calls. Instead a handler asks whether it interrupted a section,
 * itself or by a handler that it interrupted. If so it waits for no section: not for one
 * that its own thread is in, and not for one of another thread, whose handler may need
 * what this thread is in. What it cannot do then is left for later.
 *
 * A handler may come between any two of these stores. So a place that is free has no
 * object, and a section has its place before it has its object there.
 */
__cold void lkp_too_deep(void) __attribute__((noreturn));
/* A thread without an id would take the mutexes of others for its own. */
__cold void lkp_no_tid(void) __attribute__((noreturn));
/* The place of a section that interrupts another one. */
__cold u32 lkp_section_inside(void);
/* The thread begins its first section in this process. Its notes are those of the parent. */
__cold void lkp_sections_anew(void);
/* A section of @obj has ended: looks at it, or at all objects if it was the last. */
__cold void lkp_look_now(void *obj);

static inline void *section_enter(void *obj)
{
	u32 depth = lkp_self.depth;

	if (unlikely(depth))
		depth = lkp_section_inside();
	if (!depth && unlikely(lkp_self.sections_epoch != wait_epoch()))
		lkp_sections_anew();
	barrier();
	lkp_self.depth = depth + 1;
	barrier();
	lkp_self.sections[depth] = obj;
	barrier();
	return (void *)(uintptr_t)depth;
}

static inline void section_exit(void *outer)
{
	u32 depth = (u32)(uintptr_t)outer;
	void *obj = lkp_self.sections[depth];

	barrier();
	lkp_self.sections[depth] = NULL;
	barrier();
	lkp_self.depth = depth;
	if (unlikely(lkp_self.looks_later))
		lkp_look_now(obj);
}

/* The caller is a handler that has interrupted one; of @obj, of whichever object. */
bool lkp_in_section(const void *obj);
bool lkp_in_any_section(void);

static inline bool in_section(const void *obj)
{
	return unlikely(lkp_self.depth) && lkp_in_section(obj);
}

static inline bool in_any_section(void)
{
	return unlikely(lkp_self.depth) && lkp_in_any_section();
}

/*
 * To be called by such a handler: once the sections are left that it interrupted, their
 * thread calls @look. False: too much is left already; not if @obj is that of a section.
 */
__cold bool lkp_look_later(void *obj, void (*look)(void *obj));
#define look_later(obj, look) lkp_look_later(obj, look)

/*
 * For a long jump: whether one from @depth on is open, whose lock would stay locked; and
 * they are left.
 */
__cold bool lkp_sections_are_open(u32 depth);
__cold void lkp_leave_sections(u32 depth);

/* -- sleeping ------------------------------------------------------------ */

/* An absolute time on CLOCK_MONOTONIC or CLOCK_REALTIME; NULL: for ever. */
struct lkp_deadline {
	int clock;
	int64_t sec;
	int64_t nsec;
};
#define deadline_after lkp_deadline_after
void lkp_deadline_after(struct lkp_deadline *deadline, u64 ns);
/* Whether it is at most @ns nanoseconds away. */
#define deadline_within lkp_deadline_within
bool lkp_deadline_within(const struct lkp_deadline *deadline, u64 ns);
int lkp_futex_wait(u32 *word, u32 val, const struct lkp_deadline *deadline);
/* How many were asleep there. */
int lkp_futex_wake(u32 *word, int count);

/*
 * wait_on_value(word, val, deadline, naps) sleeps while *@word == @val. 0, or
 * -ETIMEDOUT past @deadline. May be early; @naps counts the caller's calls: a sleeper
 * looks again, ever more rarely, because the thread that would wake it may be stopped,
 * or foreign code that does not know it. NO_NAPS: until it is woken.
 * wake_value(word) wakes the one asleep there. False: there was none. The memory may be
 * gone by now.
 */
#define NO_NAPS UINT32_MAX
int lkp_futex_nap(u32 *word, u32 val, const struct lkp_deadline *deadline,
		  u32 naps);
#define wait_on_value(word, val, deadline, naps) \
	lkp_futex_nap(word, val, deadline, naps)
static inline bool wake_value(u32 *word)
{
	return lkp_futex_wake(word, 1) > 0;
}

/* Halting is sleeping here. A futex needs no vCPU. */
#define should_halt(rounds) ((void)(rounds), need_resched())
/* Now and then it looks whether the one ahead of it is stopped. */
#define halt_on_value(word, val) wait_on_value(word, val, NULL, 0)
#define kick_value(word, vcpu)	 ((void)(vcpu), wake_value(word))

/* Bits 10 … 15 of a qspinlock that is free: the fork epoch it belongs to. */
extern u32 lkp_wait_tag;
#define WAIT_TAG_MASK 0xfc00u
#define wait_tag()    READ_ONCE(lkp_wait_tag)

/* The type of a waiter's record on its stack. */
#define __wait_record

/* How this host differs from the other one. */
#include <host.h>

#endif
