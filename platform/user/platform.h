/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_PLATFORM_USER_H
#define LW_PLATFORM_USER_H

/*
 * The user world: what the kernel's names mean in a Linux process.
 * platform/CONTRACT.md states each name, its ordering and its promise; this
 * header only implements them, for little-endian 64-bit CPUs.
 *
 * Two hosts compile it: the library and the lab (default), and the pthread
 * interposer (LW_PRELOAD), which differs in the places marked "host".
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte layouts");

/* clang-format off: columns of macros */
#define likely(x)	    __builtin_expect(!!(x), 1)
#define unlikely(x)	    __builtin_expect(!!(x), 0)
#define __cold		    __attribute__((cold, noinline))
#define __cacheline_aligned __attribute__((aligned(64)))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr)-offsetof(type, member)))

/* -- plain accesses ------------------------------------------------------ */

#define READ_ONCE(x)	 __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
/* The hardware orders an address dependency; C11 needs the word. */
#define READ_ONCE_DEP(x)	__atomic_load_n(&(x), __ATOMIC_CONSUME)
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/* -- fences -------------------------------------------------------------- */

#define barrier() __asm__ __volatile__("" ::: "memory")
#define smp_mb()  __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)

/*
 * An RMW without a suffix is fully ordered. A locked instruction is that on
 * x86; elsewhere a seq_cst RMW alone is weaker, so it stands between fences.
 */
#if defined(__x86_64__)
#define __lw_full(op) op
#define __LW_FULL     __ATOMIC_SEQ_CST
#else
#define __lw_full(op)                 \
	({                            \
		smp_mb();             \
		__auto_type __r = op; \
		smp_mb();             \
		__r;                  \
	})
#define __LW_FULL __ATOMIC_RELAXED
#endif

/* -- read-modify-write on plain scalars ---------------------------------- */

#define xchg(p, v)	   __lw_full(__atomic_exchange_n((p), (v), __LW_FULL))
#define xchg_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
/* Relaxed, but its value is used as an address (see READ_ONCE_DEP). */
#define xchg_relaxed_dep(p, v) __atomic_exchange_n((p), (v), __ATOMIC_CONSUME)

/* True and @p updated, or false and *@old refreshed (then relaxed). */
#define __lw_try(p, old, new, order)                                 \
	__atomic_compare_exchange_n((p), (old), (new), false, order, \
				    __ATOMIC_RELAXED)
#define try_cmpxchg(p, old, new)	 __lw_full(__lw_try(p, old, new, __LW_FULL))
#define try_cmpxchg_acquire(p, old, new) __lw_try(p, old, new, __ATOMIC_ACQUIRE)
#define try_cmpxchg_release(p, old, new) __lw_try(p, old, new, __ATOMIC_RELEASE)
#define try_cmpxchg_relaxed(p, old, new) __lw_try(p, old, new, __ATOMIC_RELAXED)

/* -- atomic_t ------------------------------------------------------------ */

/* An int, as in the kernel; locks keep bits in it, so a u32 is compared too. */
typedef struct {
	int counter;
} atomic_t;

#define ATOMIC_INIT(i) \
	{              \
		(i)    \
	}
#define atomic_read(a)	  READ_ONCE((a)->counter)
#define atomic_set(a, i)  WRITE_ONCE((a)->counter, (i))
#define atomic_xchg(a, i) xchg(&(a)->counter, (int)(i))
#define atomic_or(i, a) \
	((void)__atomic_fetch_or(&(a)->counter, (i), __ATOMIC_RELAXED))
#define atomic_add(i, a) \
	((void)__atomic_fetch_add(&(a)->counter, (i), __ATOMIC_RELAXED))
#define atomic_sub(i, a) \
	((void)__atomic_fetch_sub(&(a)->counter, (i), __ATOMIC_RELAXED))
#define atomic_andnot(i, a) \
	((void)__atomic_fetch_and(&(a)->counter, ~(i), __ATOMIC_RELAXED))
#define atomic_fetch_andnot_acquire(i, a) \
	__atomic_fetch_and(&(a)->counter, ~(i), __ATOMIC_ACQUIRE)
#define atomic_fetch_or_relaxed(i, a) \
	__atomic_fetch_or(&(a)->counter, (i), __ATOMIC_RELAXED)
#define atomic_fetch_add_acquire(i, a) \
	__atomic_fetch_add(&(a)->counter, (i), __ATOMIC_ACQUIRE)
#define atomic_add_return_acquire(i, a) \
	__atomic_add_fetch(&(a)->counter, (i), __ATOMIC_ACQUIRE)
#define atomic_sub_return_release(i, a) \
	__atomic_sub_fetch(&(a)->counter, (i), __ATOMIC_RELEASE)
#define __lw_int(p) _Generic((p), u32 * : (int *)(p), int * : (p))
#define atomic_try_cmpxchg(a, old, new) \
	try_cmpxchg(&(a)->counter, __lw_int(old), (int)(new))
#define atomic_try_cmpxchg_acquire(a, old, new) \
	try_cmpxchg_acquire(&(a)->counter, __lw_int(old), (int)(new))
#define atomic_try_cmpxchg_release(a, old, new) \
	try_cmpxchg_release(&(a)->counter, __lw_int(old), (int)(new))
#define atomic_try_cmpxchg_relaxed(a, old, new) \
	try_cmpxchg_relaxed(&(a)->counter, __lw_int(old), (int)(new))

/* -- waiting on the CPU -------------------------------------------------- */

#if defined(__x86_64__)
#define cpu_relax() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define cpu_relax() __asm__ __volatile__("isb" ::: "memory")
#else
#define cpu_relax() barrier()
#endif

extern u32 lw_yield_after;
void lw_yield(void);

/*
 * One round of waiting for another thread's next step. That thread may have
 * lost its CPU to us: past yield_after rounds, give ours away.
 */
static inline void cpu_relax_wait(u32 *rounds)
{
	if (likely(++*rounds < lw_yield_after))
		cpu_relax();
	else
		lw_yield();
}

#define __lw_cond_load(p, cond, order)                     \
	({                                                 \
		u32 __rounds = 0;                          \
		__typeof__(*(p)) VAL;                      \
		for (;;) {                                 \
			VAL = __atomic_load_n((p), order); \
			if (cond)                          \
				break;                     \
			cpu_relax_wait(&__rounds);         \
		}                                          \
		VAL;                                       \
	})
#define smp_cond_load_acquire(p, cond) __lw_cond_load(p, cond, __ATOMIC_ACQUIRE)
#define smp_cond_load_relaxed(p, cond) __lw_cond_load(p, cond, __ATOMIC_RELAXED)
#define atomic_cond_read_acquire(a, cond) \
	smp_cond_load_acquire(&(a)->counter, cond)
#define atomic_cond_read_relaxed(a, cond) \
	smp_cond_load_relaxed(&(a)->counter, cond)

/* clang-format on */

/* -- this thread --------------------------------------------------------- */

#define LW_MAX_SLOTS 16383u /* 14 bits of a 16-bit tail, 0 is nobody */
#define LW_MAX_NEST  4u	    /* the other two bits: nesting levels */

struct lw_self {
	u32 slot;     /* 1 … LW_MAX_SLOTS, 0: none (yet) */
	u16 epoch;    /* the fork epoch that slot belongs to */
	u16 retry;    /* slow paths left before asking for a slot again */
	u32 spins;    /* rounds since begin_waiting() */
	u32 tid;      /* kernel thread id, see lw_tid() */
	u32 readers;  /* read locks held (interposer) */
	void *inside; /* see section_enter() */
	bool missed;
	u16 tid_epoch;
	u16 asked; /* calls of lw_cpus_are_short() */
};

extern __thread struct lw_self lw_self
	__attribute__((tls_model("initial-exec")));

/*
 * The fork epoch. *lw_fork_page turns 0 in a forked child (MADV_WIPEONFORK),
 * whatever made the child and whenever handlers run. It is mapped before the
 * first waiter queues.
 */
extern u32 *lw_fork_page;
extern u16 lw_epoch;
__cold void lw_after_fork(void);
__cold u32 lw_slot_get(void);

static inline u16 wait_epoch(void)
{
	if (unlikely(smp_load_acquire(READ_ONCE_DEP(lw_fork_page)) != 1))
		lw_after_fork();
	return READ_ONCE(lw_epoch);
}

/* A slot is the thread's own here, wherever it runs: nothing to hold on to. */
#define queue_enter() ((void)0)
#define queue_exit()  ((void)0)

/* This thread's slot, or 0 where all are taken: then it waits without a node. */
static inline u32 this_slot(void)
{
	u16 epoch = wait_epoch();

	if (likely(lw_self.slot && lw_self.epoch == epoch))
		return lw_self.slot;
	return lw_slot_get();
}

/* Storage for queue nodes: per slot, LW_MAX_NEST levels. */
#define DEFINE_WAIT_NODES(type, name)                                        \
	static type name[LW_MAX_SLOTS + 1][LW_MAX_NEST] __cacheline_aligned; \
	static __thread u8 name##_depth                                      \
		__attribute__((tls_model("initial-exec")))
#define wait_node(name, slot, level) (&(name)[slot][level])
#define wait_depth(name)	     (name##_depth)

/* -- where threads run --------------------------------------------------- */

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern ptrdiff_t lw_rseq_cpu;
__cold u32 lw_vcpu_slow(void);
extern u32 lw_watch_owner;

/*
 * A word at @offset from the thread pointer. One load of the offset, one of the
 * word: what the compiler makes of __builtin_thread_pointer() loads that too,
 * and three loads in a row show in an uncontended lock.
 */
static inline u32 lw_thread_word(ptrdiff_t offset)
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
	u32 cpu = lw_thread_word(lw_rseq_cpu);

	if (unlikely((int)cpu < 0))
		return lw_vcpu_slow();
	return cpu;
}

/*
 * True if the thread that published @vcpu (another one than the caller) cannot
 * be running: the caller is on that very CPU. False means "not known".
 */
static inline bool vcpu_is_preempted(u32 vcpu)
{
	return vcpu == this_vcpu() && (int)vcpu >= 0 &&
	       READ_ONCE(lw_watch_owner);
}

/* What a spinlock in mode auto asks; see place.c. Slow paths only. */
bool lw_cpus_are_short(void);
void lw_saw_preempted(void);
extern u32 lw_hypervisor;
#define cpus_are_short() lw_cpus_are_short()
#define saw_preempted()	 lw_saw_preempted()
#define on_hypervisor()	 (READ_ONCE(lw_hypervisor) != 0)

/* Clusters of CPUs; see cluster.c. */
#define LW_MAX_CPUS 8192u
extern u16 lw_cluster_of[LW_MAX_CPUS];
extern u32 lw_cluster_total;
__cold u32 lw_cluster_slow(u32 cpu);
__cold u32 lw_cluster_total_slow(void);

/* The cluster of the CPU that this thread runs on, or ran on just now. */
static inline u32 this_cluster(void)
{
	u32 cpu = this_vcpu();

	if (likely(cpu < LW_MAX_CPUS)) {
		/* [cluster.B] ACQUIRE, pairs with cluster.A. */
		u16 n = smp_load_acquire(&lw_cluster_of[cpu]);

		if (likely(n))
			return n - 1u;
	}
	return lw_cluster_slow(cpu);
}

/* How many there are, at least 1. */
static inline u32 cluster_count(void)
{
	u32 n = READ_ONCE(lw_cluster_total);

	return likely(n) ? n : lw_cluster_total_slow();
}

/* A holder's hint to those that would spin for it: where it runs. */
#define this_owner()		  this_vcpu()
#define owner_is_preempted(owner) vcpu_is_preempted(owner)

/* -- how long to spin ---------------------------------------------------- */

extern u32 lw_spin_budget;

static inline void begin_waiting(void)
{
	lw_self.spins = 0;
}

/* User space is not told; a spinner that used its budget up acts as if. */
static inline bool need_resched(void)
{
	return unlikely(lw_self.spins++ >= lw_spin_budget);
}

/* Rounds that an arrival waits for the owner of a pending bit to hold. */
#define pending_rounds() 64u
/* Races for a free lock that a head loses to stealers before it stops them. */
#define steal_patience() 64u
/* The same at a mutex, or a spinlock in mode steal; and the pause after each. */
extern u32 lw_brief_spins;
#define brief_spins() READ_ONCE(lw_brief_spins)
/* Ever longer, as a look takes the line from the holder: 4, 8, 16, 32 pauses. */
static inline void brief_pause(u32 round)
{
	u32 pauses = round < 3 ? 4u << round : 32;

	while (pauses--)
		cpu_relax();
}

/* Looks that an arrival takes at a spinlock in mode pv before it queues. */
extern u32 lw_steal_rounds;
#define steal_rounds() READ_ONCE(lw_steal_rounds)
/* Looks at an owner's CPU that is ours too before that is believed. */
#define owner_rounds() 4u

extern u32 lw_overtake_limit, lw_handover_spins;
#define overtake_limit() READ_ONCE(lw_overtake_limit)
#define handover_spins() READ_ONCE(lw_handover_spins)

/* A knob of locks/knobs.h. */
#define read_knob(value) READ_ONCE(value)

/* An event of locks/events.h, counted if somebody asked for that. */
extern u32 lw_count_events;
__cold void lw_count_event(u32 event);
static inline void count_event(u32 event)
{
	if (unlikely(READ_ONCE(lw_count_events)))
		lw_count_event(event);
}

/* Nanoseconds on a clock that never goes back. */
u64 local_clock(void);
/* Lets another thread have this CPU; a waiter that waited that long needs it. */
extern u32 lw_give_way_us;
#define give_way_ns() (READ_ONCE(lw_give_way_us) * (u64)1000)
#define give_way()    lw_yield()

/*
 * A section that a signal handler of the same thread must not wait for, as an
 * interrupt handler must not in the kernel. Signals stay enabled: to block them
 * costs two system calls. Instead a handler asks whether it interrupted the
 * section of @obj; if so it leaves its work to be done, and section_exit() tells.
 */
static inline void *section_enter(void *obj)
{
	void *outer = lw_self.inside;

	lw_self.inside = obj;
	barrier();
	return outer;
}

static inline bool section_exit(void *outer)
{
	bool missed;

	barrier();
	lw_self.inside = outer;
	barrier();
	missed = lw_self.missed;
	if (unlikely(missed))
		lw_self.missed = false;
	return missed;
}

static inline bool in_section(void *obj)
{
	return unlikely(lw_self.inside == obj);
}

static inline void section_missed(void)
{
	lw_self.missed = true;
}

/* -- sleeping ------------------------------------------------------------ */

/* An absolute time on CLOCK_MONOTONIC or CLOCK_REALTIME; NULL: for ever. */
struct lw_deadline {
	int clock;
	int64_t sec;
	int64_t nsec;
};
void deadline_after(struct lw_deadline *deadline, u64 ns);
/* Whether the time @sec, @nsec on its clock is at or past it. */
bool deadline_passed(const struct lw_deadline *deadline, int64_t sec,
		     int64_t nsec);
/* Whether it is at most @ns nanoseconds away. */
bool deadline_within(const struct lw_deadline *deadline, u64 ns);
int lw_futex_wait(u32 *word, u32 val, const struct lw_deadline *deadline);
/* How many were asleep there. */
int lw_futex_wake(u32 *word, int count);

/*
 * wait_on_value(word, val, deadline, naps) sleeps while *@word == @val. 0, or
 * -ETIMEDOUT past @deadline. May be early; @naps counts the caller's calls.
 * NO_NAPS: only ours wake it. wake_value(word) wakes the one asleep there. False:
 * there was none. The memory may be gone by now.
 */
#define NO_NAPS UINT32_MAX
static inline bool wake_value(u32 *word)
{
	return lw_futex_wake(word, 1) > 0;
}

/*
 * Host: POSIX lets the next holder free a mutex at once, and glibc's own code
 * may be among the waiters of the interposer's lock word. Its unlock is an RMW
 * then, and needs no asymmetric fence.
 */
/* Halting is sleeping here. A futex needs no vCPU. */
#define NO_VCPU		    0u
#define should_halt(rounds) ((void)(rounds), need_resched())
#define halt_on_value(word, val, vcpu) \
	((void)(vcpu), wait_on_value(word, val, NULL, 0))
#define kick_value(word, vcpu) ((void)(vcpu), wake_value(word))

#if defined(LW_PRELOAD)
#define LK_MUTEX_EMBED		u32 embed[4]; /* glibc: count, owner, nusers, kind */
#define mutex_outlives_unlock() false
#define waiters_halt()		false
#define foreign_waiters()	true
/* Foreign unlocks do not know our sleepers: look again, ever more rarely. */
int lw_futex_nap(u32 *word, u32 val, const struct lw_deadline *deadline,
		 u32 naps);
#define wait_on_value(word, val, deadline, naps) \
	lw_futex_nap(word, val, deadline, naps)
#define wake_foreign(word) lw_futex_wake(word, 1)
#define smp_mb_light()	   smp_mb()
#define smp_mb_heavy()	   smp_mb()
#define WAIT_TAG_MARK	   0x8000u
#else
#define LK_MUTEX_EMBED
#define mutex_outlives_unlock() true
#define waiters_halt()		true
#define foreign_waiters()	false
#define wait_on_value(word, val, deadline, naps) \
	((void)(naps), lw_futex_wait(word, val, deadline))
#define wake_foreign(word) ((void)(word))
#define WAIT_TAG_MARK	   0u
extern u32 lw_membarrier;
void lw_membarrier_all(void);
#define smp_mb_heavy()	   lw_membarrier_all()
/* Orders like smp_mb(), but only against smp_mb_heavy(). */
static inline void smp_mb_light(void)
{
	if (likely(READ_ONCE(lw_membarrier)))
		barrier();
	else
		smp_mb();
}
#endif

/* Bits 10 … 15 of a qspinlock that is free: the fork epoch it belongs to. */
extern u32 lw_wait_tag;
#define WAIT_TAG_MASK 0xfc00u
#define wait_tag()    READ_ONCE(lw_wait_tag)

#endif
