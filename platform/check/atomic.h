/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_CHECK_ATOMIC_H
#define LKP_CHECK_ATOMIC_H

/*
 * The check world: every access of a lock is a call into a model checker, that
 * owns the memory.
 *
 * Threads are coroutines of one OS thread. Accesses that are not named here,
 * plain C loads and stores, are seen as well: the compiler reports each one
 * (-fsanitize=thread, with this world's own __tsan_* functions behind it).
 */
#include <types.h>

/* -- calls into the model checker ---------------------------------------- */

/* Orders. FULL: a full barrier, the access, a full barrier. */
enum { LWC_RELAXED, LWC_DEP, LWC_ACQUIRE, LWC_RELEASE, LWC_FULL };
/* Read-modify-writes. */
enum { LWC_XCHG, LWC_ADD, LWC_OR, LWC_ANDNOT };
/* Fences. */
enum { LWC_WMB, LWC_MB };

/* Where in the source an access stands: what mutants and traces name. */
struct lwc_site {
	const char *file; /* without directories */
	const char *func;
	const char *name; /* the primitive */
	const char *expr; /* its operand, as written */
	u32 line;
};

#define __lwc_site(op, text)                                         \
	({                                                           \
		static const struct lwc_site __site = {              \
			__FILE_NAME__, __func__, op, text, __LINE__, \
		};                                                   \
		&__site;                                             \
	})

/* Its return address. An inlined function's accesses have one site, and several of these. */
void *lwc_here(void);

/* @pc is lwc_here(). */
u64 lwc_load(const volatile void *p, u32 size, u32 order,
	     const struct lwc_site *site, void *pc);
/* A signal may arrive there: see struct check_world. */
void check_before_store(void);
void lwc_store(volatile void *p, u32 size, u64 value, u32 order,
	       const struct lwc_site *site);
/* Returns what was there. */
u64 lwc_rmw(volatile void *p, u32 size, u32 kind, u64 operand, u32 order,
	    const struct lwc_site *site, void *pc);
/* Returns what was there: @old if it was replaced. */
u64 lwc_cas(volatile void *p, u32 size, u64 old, u64 new, u32 order,
	    const struct lwc_site *site, void *pc);
void lwc_fence(u32 kind, const struct lwc_site *site);
/* A round of a wait loop that found nothing to do. */
void lwc_round(const struct lwc_site *site);
/* A wait is over: the next one counts its rounds anew. True. */
bool lwc_wait_over(void);
/* Whether to leave this wait though its condition is false: a mutant. */
bool lwc_skip_wait(const struct lwc_site *site);
/* Whether to act as if this call were not there: a mutant. */
bool lwc_left_out(const struct lwc_site *site);
/*
 * 0, or -ETIMEDOUT where @timed: the time may be up at any moment. @naps: it also ends
 * once nothing else happens.
 */
int lwc_sleep(volatile u32 *p, u32 value, bool timed, bool naps,
	      const struct lwc_site *site);
bool lwc_wake(volatile u32 *p, const struct lwc_site *site);
/* What section_enter() and section_exit() do where sections exclude. */
void lwc_enter_section(void *obj);
void lwc_leave_section(void);
/* The running thread, from 0. */
u32 lwc_thread(void);
/* Ends the execution: something is broken; @text says what. */
_Noreturn void lwc_broken(const char *text);

/* -- plain accesses ------------------------------------------------------ */

#define __lwc_load(op, p, order)                              \
	((__typeof__(*(p)))lwc_load((p), sizeof(*(p)), order, \
				    __lwc_site(op, #p), lwc_here()))
#define __lwc_store(op, p, v, order) \
	(check_before_store(),       \
	 lwc_store((p), sizeof(*(p)), (u64)(v), order, __lwc_site(op, #p)))

#define READ_ONCE(x)	    __lwc_load("READ_ONCE", &(x), LWC_RELAXED)
#define WRITE_ONCE(x, v)    __lwc_store("WRITE_ONCE", &(x), v, LWC_RELAXED)
#define READ_ONCE_DEP(x)    __lwc_load("READ_ONCE_DEP", &(x), LWC_DEP)
#define smp_load_acquire(p) __lwc_load("smp_load_acquire", p, LWC_ACQUIRE)
#define smp_store_release(p, v) \
	__lwc_store("smp_store_release", p, v, LWC_RELEASE)

/* -- fences -------------------------------------------------------------- */

#define smp_mb()       lwc_fence(LWC_MB, __lwc_site("smp_mb", ""))
#define smp_wmb()      lwc_fence(LWC_WMB, __lwc_site("smp_wmb", ""))
#define smp_mb_light() lwc_fence(LWC_MB, __lwc_site("smp_mb_light", ""))
#define smp_mb_heavy() lwc_fence(LWC_MB, __lwc_site("smp_mb_heavy", ""))

/* -- read-modify-write on plain scalars ---------------------------------- */

#define __lwc_rmw(op, p, kind, v, order)                                     \
	({                                                                   \
		(__typeof__(*(p)))lwc_rmw((p), sizeof(*(p)), kind, (u64)(v), \
					  order, __lwc_site(op, #p),         \
					  lwc_here());                       \
	})
#define xchg(p, v) __lwc_rmw("xchg", p, LWC_XCHG, v, LWC_FULL)
#define xchg_acquire(p, v) \
	__lwc_rmw("xchg_acquire", p, LWC_XCHG, v, LWC_ACQUIRE)
#define xchg_relaxed_dep(p, v) \
	__lwc_rmw("xchg_relaxed_dep", p, LWC_XCHG, v, LWC_DEP)

#define __lwc_try(op, p, old, new, order)                                  \
	({                                                                 \
		__typeof__(*(p)) __want = *(old);                          \
		__typeof__(*(p)) __seen = (__typeof__(*(p)))lwc_cas(       \
			(p), sizeof(*(p)), (u64)__want, (u64)(new), order, \
			__lwc_site(op, #p), lwc_here());                   \
		if (__seen != __want)                                      \
			*(old) = __seen;                                   \
		__seen == __want;                                          \
	})
#define try_cmpxchg(p, old, new) __lwc_try("try_cmpxchg", p, old, new, LWC_FULL)
#define try_cmpxchg_acquire(p, old, new) \
	__lwc_try("try_cmpxchg_acquire", p, old, new, LWC_ACQUIRE)
#define try_cmpxchg_release(p, old, new) \
	__lwc_try("try_cmpxchg_release", p, old, new, LWC_RELEASE)
#define try_cmpxchg_relaxed(p, old, new) \
	__lwc_try("try_cmpxchg_relaxed", p, old, new, LWC_RELAXED)

/* -- atomic_t ------------------------------------------------------------ */

#define __lwc_atomic(op, a, kind, i, order)                    \
	((int)lwc_rmw(&(a)->counter, 4, kind, (u32)(i), order, \
		      __lwc_site(op, #a), lwc_here()))
#define atomic_read(a)                                \
	((int)lwc_load(&(a)->counter, 4, LWC_RELAXED, \
		       __lwc_site("atomic_read", #a), lwc_here()))
#define atomic_set(a, i)                                   \
	lwc_store(&(a)->counter, 4, (u32)(i), LWC_RELAXED, \
		  __lwc_site("atomic_set", #a))
#define atomic_read_acquire(a)                        \
	((int)lwc_load(&(a)->counter, 4, LWC_ACQUIRE, \
		       __lwc_site("atomic_read_acquire", #a), lwc_here()))
#define atomic_set_release(a, i)                           \
	lwc_store(&(a)->counter, 4, (u32)(i), LWC_RELEASE, \
		  __lwc_site("atomic_set_release", #a))
#define atomic_xchg(a, i) __lwc_atomic("atomic_xchg", a, LWC_XCHG, i, LWC_FULL)
#define atomic_xchg_acquire(a, i) \
	__lwc_atomic("atomic_xchg_acquire", a, LWC_XCHG, i, LWC_ACQUIRE)
#define atomic_or(i, a) \
	((void)__lwc_atomic("atomic_or", a, LWC_OR, i, LWC_RELAXED))
#define atomic_add(i, a) \
	((void)__lwc_atomic("atomic_add", a, LWC_ADD, i, LWC_RELAXED))
#define atomic_sub(i, a) \
	((void)__lwc_atomic("atomic_sub", a, LWC_ADD, -(i), LWC_RELAXED))
#define atomic_andnot(i, a) \
	((void)__lwc_atomic("atomic_andnot", a, LWC_ANDNOT, i, LWC_RELAXED))
#define atomic_fetch_andnot_acquire(i, a)                             \
	__lwc_atomic("atomic_fetch_andnot_acquire", a, LWC_ANDNOT, i, \
		     LWC_ACQUIRE)
#define atomic_fetch_or_relaxed(i, a) \
	__lwc_atomic("atomic_fetch_or_relaxed", a, LWC_OR, i, LWC_RELAXED)
#define atomic_fetch_add_acquire(i, a) \
	__lwc_atomic("atomic_fetch_add_acquire", a, LWC_ADD, i, LWC_ACQUIRE)
#define atomic_add_return_acquire(i, a)                           \
	(__lwc_atomic("atomic_add_return_acquire", a, LWC_ADD, i, \
		      LWC_ACQUIRE) +                              \
	 (int)(i))
#define atomic_sub_return_release(i, a)                              \
	(__lwc_atomic("atomic_sub_return_release", a, LWC_ADD, -(i), \
		      LWC_RELEASE) -                                 \
	 (int)(i))
#define atomic_try_cmpxchg(a, old, new) \
	__lwc_try("atomic_try_cmpxchg", &(a)->counter, old, new, LWC_FULL)
#define atomic_try_cmpxchg_release(a, old, new)                          \
	__lwc_try("atomic_try_cmpxchg_release", &(a)->counter, old, new, \
		  LWC_RELEASE)
#define atomic_try_cmpxchg_acquire(a, old, new)                          \
	__lwc_try("atomic_try_cmpxchg_acquire", &(a)->counter, old, new, \
		  LWC_ACQUIRE)
#define atomic_try_cmpxchg_relaxed(a, old, new)                          \
	__lwc_try("atomic_try_cmpxchg_relaxed", &(a)->counter, old, new, \
		  LWC_RELAXED)

/* -- waiting on the CPU -------------------------------------------------- */

#define cpu_relax() lwc_round(__lwc_site("cpu_relax", ""))
#define cpu_relax_wait(rounds) \
	(++*(rounds), lwc_round(__lwc_site("cpu_relax_wait", "")))

/* It also ends, before a round, if @over holds. */
#define __lwc_cond_load(op, p, cond, over, order)                              \
	({                                                                     \
		const struct lwc_site *__wait = __lwc_site(op, #p);            \
		__typeof__(*(p)) VAL;                                          \
		for (;;) {                                                     \
			VAL = (__typeof__(*(p)))lwc_load(                      \
				(p), sizeof(*(p)), order, __wait, lwc_here()); \
			if ((cond) || lwc_skip_wait(__wait))                   \
				break;                                         \
			if (over)                                              \
				break;                                         \
			lwc_round(__wait);                                     \
		}                                                              \
		lwc_wait_over();                                               \
		VAL;                                                           \
	})
#define smp_cond_load_acquire(p, cond) \
	__lwc_cond_load("smp_cond_load_acquire", p, cond, false, LWC_ACQUIRE)
#define smp_cond_load_relaxed(p, cond) \
	__lwc_cond_load("smp_cond_load_relaxed", p, cond, false, LWC_RELAXED)
#define atomic_cond_read_acquire(a, cond)                                \
	__lwc_cond_load("atomic_cond_read_acquire", &(a)->counter, cond, \
			false, LWC_ACQUIRE)
#define atomic_cond_read_relaxed(a, cond)                                \
	__lwc_cond_load("atomic_cond_read_relaxed", &(a)->counter, cond, \
			false, LWC_RELAXED)

/* One that leaves does so at its first look. */
#define __lwc_cond_load_or_stall(op, p, cond, leave, order)         \
	({                                                          \
		struct lkp_stall __stall = { 0 };                   \
		__lwc_cond_load(op, p, cond,                        \
				should_leave(0, &__stall, leave) && \
					!lwc_left_out(__wait),      \
				order);                             \
	})
#define smp_cond_load_acquire_or_stall(p, cond, leave)                      \
	__lwc_cond_load_or_stall("smp_cond_load_acquire_or_stall", p, cond, \
				 leave, LWC_ACQUIRE)
#define smp_cond_load_relaxed_or_stall(p, cond, leave)                      \
	__lwc_cond_load_or_stall("smp_cond_load_relaxed_or_stall", p, cond, \
				 leave, LWC_RELAXED)
#define atomic_cond_read_acquire_or_stall(a, cond, leave)             \
	__lwc_cond_load_or_stall("atomic_cond_read_acquire_or_stall", \
				 &(a)->counter, cond, leave, LWC_ACQUIRE)
#define atomic_cond_read_relaxed_or_stall(a, cond, leave)             \
	__lwc_cond_load_or_stall("atomic_cond_read_relaxed_or_stall", \
				 &(a)->counter, cond, leave, LWC_RELAXED)

#endif
