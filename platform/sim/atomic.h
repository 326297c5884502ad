/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_SIM_ATOMIC_H
#define LKP_SIM_ATOMIC_H

/*
 * The sim world: every access of a lock is an access of a simulated CPU, which
 * takes as long as the simulated machine's caches and links need for it.
 *
 * It is the kernel's world on another machine: a queued thread keeps its CPU,
 * need_resched() is the scheduler's word, and a spinlock's waiter that halts
 * gives its virtual CPU away. Plain C accesses are reported by the compiler
 * (-fsanitize=thread, see tsan.c), and cost what it takes to get their lines.
 */
#include <types.h>

/* -- calls into the simulator -------------------------------------------- */

/* Read-modify-writes. */
enum { LWS_XCHG, LWS_ADD, LWS_OR, LWS_ANDNOT };

/* Where somebody waits: what a report of a deadlock names. */
struct lws_site {
	const char *file; /* without directories */
	const char *func;
	u32 line;
};

#define __lws_site()                                                          \
	({                                                                    \
		static const struct lws_site __site = { __FILE_NAME__,        \
							__func__, __LINE__ }; \
		&__site;                                                      \
	})

/* Set by the simulator before anything runs; see crates/lockwork-sim/src/calls.rs. */
struct lws_calls {
	u64 (*load)(const volatile void *p, u32 size);
	void (*store)(volatile void *p, u32 size, u64 value);
	/* A plain access, which the lock makes by itself after that. */
	void (*plain)(const volatile void *p, size_t size, bool write);
	/* Both return what was there. */
	u64 (*rmw)(volatile void *p, u32 size, u32 kind, u64 operand);
	u64 (*cas)(volatile void *p, u32 size, u64 old, u64 new);
	void (*fence)(void);
	/*
	 * A pause; for a loop that counts, it and those that nobody had to see: how
	 * many. Not through a pointer: a counter is in a register, and in no line.
	 */
	u32 (*relax)(bool counted, const struct lws_site *site);
	/* Until the line of @p, just loaded, is somebody else's. */
	void (*wait_line)(const volatile void *p, const struct lws_site *site);
	/* The running CPU, from 0, and the running thread. */
	u32 (*cpu)(void);
	u32 (*thread)(void);
	void (*preempt)(int change);
	bool (*need_resched)(void);
	bool (*vcpu_is_preempted)(u32 vcpu);
	bool (*owner_is_preempted)(u32 owner);
	/* Whether there is a hypervisor. */
	bool (*has_guests)(void);
	bool (*cpus_are_short)(void);
	void (*saw_preempted)(void);
	void (*yield_to_vcpu)(u32 vcpu);
	u64 (*clock)(void);
	int (*sleep)(u32 *p, u32 value, u64 deadline,
		     const struct lws_site *site);
	bool (*wake)(u32 *p);
	/* The cluster of the running CPU, and how many there are. */
	u32 (*cluster)(void);
	u32 (*clusters)(void);
	void (*event)(u32 event);
	/* In the simulated machine. */
	u64 (*address)(const void *p);
};
extern const struct lws_calls lws;

/* -- plain accesses ------------------------------------------------------ */

#define __lws_load(p)	  ((__typeof__(*(p)))lws.load((p), sizeof(*(p))))
#define __lws_store(p, v) lws.store((p), sizeof(*(p)), (u64)(v))

#define READ_ONCE(x)		__lws_load(&(x))
#define WRITE_ONCE(x, v)	__lws_store(&(x), v)
#define READ_ONCE_DEP(x)	__lws_load(&(x))
#define smp_load_acquire(p)	__lws_load(p)
#define smp_store_release(p, v) __lws_store(p, v)

/* -- fences: stores keep their order here, as on x86 ---------------------- */

#define smp_mb()       lws.fence()
#define smp_wmb()      barrier()
#define smp_mb_light() lws.fence()
#define smp_mb_heavy() lws.fence()

/* -- read-modify-write on plain scalars: all of them full, as on x86 ------ */

#define __lws_rmw(p, kind, v) \
	({ (__typeof__(*(p)))lws.rmw((p), sizeof(*(p)), kind, (u64)(v)); })
#define xchg(p, v)	       __lws_rmw(p, LWS_XCHG, v)
#define xchg_acquire(p, v)     __lws_rmw(p, LWS_XCHG, v)
#define xchg_relaxed_dep(p, v) __lws_rmw(p, LWS_XCHG, v)

#define __lws_try(p, old, new)                                       \
	({                                                           \
		__typeof__(*(p)) __want = (__typeof__(*(p)))*(old);  \
		__typeof__(*(p)) __seen = (__typeof__(*(p)))lws.cas( \
			(p), sizeof(*(p)), (u64)__want, (u64)(new)); \
		if (__seen != __want)                                \
			*(old) = __seen;                             \
		__seen == __want;                                    \
	})
#define try_cmpxchg(p, old, new)	 __lws_try(p, old, new)
#define try_cmpxchg_acquire(p, old, new) __lws_try(p, old, new)
#define try_cmpxchg_release(p, old, new) __lws_try(p, old, new)
#define try_cmpxchg_relaxed(p, old, new) __lws_try(p, old, new)

/* -- atomic_t ------------------------------------------------------------ */

#define __lws_atomic(a, kind, i)	  __lws_rmw(&(a)->counter, kind, (u32)(i))
#define atomic_read(a)			  READ_ONCE((a)->counter)
#define atomic_set(a, i)		  lws.store(&(a)->counter, 4, (u32)(i))
#define atomic_read_acquire(a)		  atomic_read(a)
#define atomic_set_release(a, i)	  atomic_set(a, i)
#define atomic_xchg(a, i)		  __lws_atomic(a, LWS_XCHG, i)
#define atomic_xchg_acquire(a, i)	  __lws_atomic(a, LWS_XCHG, i)
#define atomic_or(i, a)			  ((void)__lws_atomic(a, LWS_OR, i))
#define atomic_add(i, a)		  ((void)__lws_atomic(a, LWS_ADD, i))
#define atomic_sub(i, a)		  ((void)__lws_atomic(a, LWS_ADD, -(i)))
#define atomic_andnot(i, a)		  ((void)__lws_atomic(a, LWS_ANDNOT, i))
#define atomic_fetch_andnot_acquire(i, a) __lws_atomic(a, LWS_ANDNOT, i)
#define atomic_fetch_or_relaxed(i, a)	  __lws_atomic(a, LWS_OR, i)
#define atomic_fetch_add_acquire(i, a)	  __lws_atomic(a, LWS_ADD, i)
#define atomic_add_return_acquire(i, a)	  (__lws_atomic(a, LWS_ADD, i) + (int)(i))
#define atomic_sub_return_release(i, a) \
	(__lws_atomic(a, LWS_ADD, -(i)) - (int)(i))
#define atomic_try_cmpxchg(a, old, new) \
	__lws_try(&(a)->counter, old, (u32)(new))
#define atomic_try_cmpxchg_acquire(a, old, new) \
	__lws_try(&(a)->counter, old, (u32)(new))
#define atomic_try_cmpxchg_release(a, old, new) \
	__lws_try(&(a)->counter, old, (u32)(new))
#define atomic_try_cmpxchg_relaxed(a, old, new) \
	__lws_try(&(a)->counter, old, (u32)(new))

/* -- waiting on the CPU -------------------------------------------------- */

/*
 * A pause. When all that a thread has loaded since the last one is in its own
 * cache, and was the time before, the simulator has it wait until one of those
 * lines is taken from it: that costs no events. So a loop that counts its
 * rounds uses cpu_relax_wait(), which is told how many went by meanwhile.
 */
#define cpu_relax() ((void)lws.relax(false, __lws_site()))
#define cpu_relax_wait(rounds) \
	((void)(*(rounds) += lws.relax(true, __lws_site())))

#define __lws_cond_load(p, cond)                        \
	({                                              \
		__typeof__(*(p)) VAL;                   \
		for (;;) {                              \
			VAL = __lws_load(p);            \
			if (cond)                       \
				break;                  \
			lws.wait_line(p, __lws_site()); \
		}                                       \
		VAL;                                    \
	})
#define smp_cond_load_acquire(p, cond)	  __lws_cond_load(p, cond)
#define smp_cond_load_relaxed(p, cond)	  __lws_cond_load(p, cond)
#define atomic_cond_read_acquire(a, cond) __lws_cond_load(&(a)->counter, cond)
#define atomic_cond_read_relaxed(a, cond) __lws_cond_load(&(a)->counter, cond)

/* As in the kernel. */
#include <stays.h>

#endif
