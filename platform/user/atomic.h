/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_USER_ATOMIC_H
#define LKP_USER_ATOMIC_H

/*
 * What the kernel's names mean in a Linux process, on little-endian 64-bit CPUs.
 * The light and the heavy fence are the host's: host.h.
 */
#include <types.h>

/* -- plain accesses ------------------------------------------------------ */

#define READ_ONCE(x)	 __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
/* The hardware orders an address dependency; C11 needs the word. */
#define READ_ONCE_DEP(x)	__atomic_load_n(&(x), __ATOMIC_CONSUME)
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/* -- fences -------------------------------------------------------------- */

#define smp_mb()  __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)

/*
 * An RMW without a suffix is fully ordered. A locked instruction is that on
 * x86; elsewhere a seq_cst RMW alone is weaker, so it stands between fences.
 */
#if defined(__x86_64__)
#define __lkp_full(op) op
#define __LKP_FULL     __ATOMIC_SEQ_CST
#else
#define __lkp_full(op)                \
	({                            \
		smp_mb();             \
		__auto_type __r = op; \
		smp_mb();             \
		__r;                  \
	})
#define __LKP_FULL __ATOMIC_RELAXED
#endif

/* -- read-modify-write on plain scalars ---------------------------------- */

#define xchg(p, v)	   __lkp_full(__atomic_exchange_n((p), (v), __LKP_FULL))
#define xchg_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
/* Relaxed, but its value is used as an address (see READ_ONCE_DEP). */
#define xchg_relaxed_dep(p, v) __atomic_exchange_n((p), (v), __ATOMIC_CONSUME)

/*
 * A lock may write one half of a word by itself, and exchange all of it elsewhere.
 * ThreadSanitizer pairs a release and an acquire of one address only, so it is told
 * that who exchanges the word has seen what the upper half was released with.
 */
#if defined(__SANITIZE_THREAD__)
#define __LKP_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __LKP_TSAN 1
#endif
#endif
#ifdef __LKP_TSAN
void __tsan_acquire(void *p);
#define __lkp_saw_upper_half(p) \
	__tsan_acquire((char *)(uintptr_t)(p) + sizeof(*(p)) / 2)
#else
#define __lkp_saw_upper_half(p) ((void)0)
#endif

/* True and @p updated, or false and *@old refreshed (then relaxed). */
#define __lkp_try(p, old, new, order)                                \
	__atomic_compare_exchange_n((p), (old), (new), false, order, \
				    __ATOMIC_RELAXED)
#define try_cmpxchg(p, old, new) __lkp_full(__lkp_try(p, old, new, __LKP_FULL))
#define try_cmpxchg_acquire(p, old, new)                                \
	({                                                              \
		bool __done = __lkp_try(p, old, new, __ATOMIC_ACQUIRE); \
		if (__done)                                             \
			__lkp_saw_upper_half(p);                        \
		__done;                                                 \
	})
#define try_cmpxchg_release(p, old, new) \
	__lkp_try(p, old, new, __ATOMIC_RELEASE)
#define try_cmpxchg_relaxed(p, old, new) \
	__lkp_try(p, old, new, __ATOMIC_RELAXED)

/* -- atomic_t ------------------------------------------------------------ */

#define atomic_read(a)		  READ_ONCE((a)->counter)
#define atomic_set(a, i)	  WRITE_ONCE((a)->counter, (i))
#define atomic_read_acquire(a)	  smp_load_acquire(&(a)->counter)
#define atomic_set_release(a, i)  smp_store_release(&(a)->counter, (i))
#define atomic_xchg(a, i)	  xchg(&(a)->counter, (int)(i))
#define atomic_xchg_acquire(a, i) xchg_acquire(&(a)->counter, (int)(i))
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
#define __lkp_int(p) _Generic((p), u32 * : (int *)(p), int * : (p))
#define atomic_try_cmpxchg(a, old, new) \
	try_cmpxchg(&(a)->counter, __lkp_int(old), (int)(new))
#define atomic_try_cmpxchg_acquire(a, old, new) \
	try_cmpxchg_acquire(&(a)->counter, __lkp_int(old), (int)(new))
#define atomic_try_cmpxchg_release(a, old, new) \
	try_cmpxchg_release(&(a)->counter, __lkp_int(old), (int)(new))
#define atomic_try_cmpxchg_relaxed(a, old, new) \
	try_cmpxchg_relaxed(&(a)->counter, __lkp_int(old), (int)(new))

/* -- waiting on the CPU -------------------------------------------------- */

#if defined(__x86_64__)
#define cpu_relax() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define cpu_relax() __asm__ __volatile__("isb" ::: "memory")
#else
#define cpu_relax() barrier()
#endif

extern u32 lkp_yield_after;
void lkp_yield(void);
void lkp_let_run(void);

/*
 * One round of waiting for another thread's next step. That thread may have
 * lost its CPU to us: past yield_after rounds, give ours away.
 */
static inline void cpu_relax_wait(u32 *rounds)
{
	if (likely(++*rounds < lkp_yield_after))
		cpu_relax();
	else
		lkp_let_run();
}

/*
 * When a waiter looked for the first time, and since when each of its looks finds the lock
 * free. Zero: not yet.
 */
struct lkp_stall {
	u64 began, free_since;
};

/*
 * A thread may be stopped, or sit in a signal handler, while it waits in a spinlock's
 * queue; so those behind it leave. True for a waiter past yield_after rounds if each of its
 * looks finds it @free for stall_us. Where others have left already, a look may find it held by
 * them. So one @free look is enough after 16 times as long.
 */
bool lkp_stalls(struct lkp_stall *stall, bool is_free);
#define should_leave(rounds, stall, free) \
	(unlikely((rounds) >= lkp_yield_after) && lkp_stalls(stall, free))
#define waiters_leave() true

/* It also ends, after a round, once @over holds. */
#define __lkp_cond_load(p, cond, over, order)              \
	({                                                 \
		u32 __rounds = 0;                          \
		__typeof__(*(p)) VAL;                      \
		for (;;) {                                 \
			VAL = __atomic_load_n((p), order); \
			if (cond)                          \
				break;                     \
			cpu_relax_wait(&__rounds);         \
			if (over)                          \
				break;                     \
		}                                          \
		VAL;                                       \
	})
#define smp_cond_load_acquire(p, cond) \
	__lkp_cond_load(p, cond, false, __ATOMIC_ACQUIRE)
#define smp_cond_load_relaxed(p, cond) \
	__lkp_cond_load(p, cond, false, __ATOMIC_RELAXED)
#define atomic_cond_read_acquire(a, cond) \
	smp_cond_load_acquire(&(a)->counter, cond)
#define atomic_cond_read_relaxed(a, cond) \
	smp_cond_load_relaxed(&(a)->counter, cond)

/* As these, but they also end once @leave has held for too long. */
#define __lkp_cond_load_or_stall(p, cond, leave, order)                  \
	({                                                               \
		struct lkp_stall __stall = { 0 };                        \
		__lkp_cond_load(p, cond,                                 \
				should_leave(__rounds, &__stall, leave), \
				order);                                  \
	})
#define smp_cond_load_acquire_or_stall(p, cond, leave) \
	__lkp_cond_load_or_stall(p, cond, leave, __ATOMIC_ACQUIRE)
#define smp_cond_load_relaxed_or_stall(p, cond, leave) \
	__lkp_cond_load_or_stall(p, cond, leave, __ATOMIC_RELAXED)
#define atomic_cond_read_acquire_or_stall(a, cond, leave) \
	smp_cond_load_acquire_or_stall(&(a)->counter, cond, leave)
#define atomic_cond_read_relaxed_or_stall(a, cond, leave) \
	smp_cond_load_relaxed_or_stall(&(a)->counter, cond, leave)

#endif
