// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The control arm: every function that the interposer replaces, each handed
 * straight on to glibc. A program under it runs glibc's own locks, so what it
 * loses against a plain run is the price of interposition itself: one more
 * call, and one more load for the functions found at run time.
 *
 * Two ways lead to glibc's functions:
 *  - where glibc has a second name, __pthread_*, that sanitizers do not take, the
 *    dynamic linker binds it before any code of the program runs;
 *  - the others are looked up once, by the constructor or by the first call,
 *    whichever comes first. Each look-up finds the same address, so racing
 *    ones need no lock.
 */
#define _GNU_SOURCE
#include "own_code.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#if defined(__x86_64__)
#define GLIBC_BASE "GLIBC_2.2.5"
#define GLIBC_COND "GLIBC_2.3.2" /* 2.2.5 is another, older condvar */
#elif defined(__aarch64__)
#define GLIBC_BASE "GLIBC_2.17"
#define GLIBC_COND "GLIBC_2.17"
#elif defined(__riscv)
#define GLIBC_BASE "GLIBC_2.27"
#define GLIBC_COND "GLIBC_2.27"
#else
#error "name this architecture's first glibc symbol version here"
#endif

#define EXPORT __attribute__((visibility("default")))

/* clang-format off */
#define TIME const struct timespec *

/* X(name, parameters, arguments): glibc has pthread_NAME and __pthread_NAME. */
#define BOUND(X)                                                              \
	X(mutex_init, (pthread_mutex_t *m, const pthread_mutexattr_t *a),    \
	  (m, a))                                                             \
	X(mutex_destroy, (pthread_mutex_t *m), (m))                          \
	X(mutex_trylock, (pthread_mutex_t *m), (m))                          \
	X(rwlock_init, (pthread_rwlock_t *l, const pthread_rwlockattr_t *a), \
	  (l, a))                                                             \
	X(rwlock_destroy, (pthread_rwlock_t *l), (l))                        \
	X(rwlock_rdlock, (pthread_rwlock_t *l), (l))                         \
	X(rwlock_wrlock, (pthread_rwlock_t *l), (l))                         \
	X(rwlock_tryrdlock, (pthread_rwlock_t *l), (l))                      \
	X(rwlock_trywrlock, (pthread_rwlock_t *l), (l))                      \
	X(rwlock_unlock, (pthread_rwlock_t *l), (l))

/*
 * X(returned, name, version, parameters, arguments). A version is given where the
 * default is not the only one to be met.
 */
#define LOOKED_UP(X)                                                           \
	X(int, pthread_mutex_lock, GLIBC_BASE, (pthread_mutex_t *m), (m))     \
	X(int, pthread_mutex_unlock, GLIBC_BASE, (pthread_mutex_t *m), (m))   \
	X(int, pthread_mutex_timedlock, NULL, (pthread_mutex_t *m, TIME t),   \
	  (m, t))                                                              \
	X(int, pthread_mutex_clocklock, NULL,                                  \
	  (pthread_mutex_t *m, clockid_t clock, TIME t), (m, clock, t))       \
	X(int, pthread_cond_init, GLIBC_COND,                                  \
	  (pthread_cond_t *c, const pthread_condattr_t *a), (c, a))           \
	X(int, pthread_cond_destroy, GLIBC_COND, (pthread_cond_t *c), (c))    \
	X(int, pthread_cond_wait, GLIBC_COND,                                  \
	  (pthread_cond_t *c, pthread_mutex_t * m), (c, m))                   \
	X(int, pthread_cond_timedwait, GLIBC_COND,                             \
	  (pthread_cond_t *c, pthread_mutex_t * m, TIME t), (c, m, t))        \
	X(int, pthread_cond_clockwait, NULL,                                   \
	  (pthread_cond_t *c, pthread_mutex_t * m, clockid_t clock, TIME t),  \
	  (c, m, clock, t))                                                    \
	X(int, pthread_cond_signal, GLIBC_COND, (pthread_cond_t *c), (c))     \
	X(int, pthread_cond_broadcast, GLIBC_COND, (pthread_cond_t *c), (c))  \
	X(int, pthread_rwlock_timedrdlock, NULL,                               \
	  (pthread_rwlock_t *l, TIME t), (l, t))                              \
	X(int, pthread_rwlock_timedwrlock, NULL,                               \
	  (pthread_rwlock_t *l, TIME t), (l, t))                              \
	X(int, pthread_rwlock_clockrdlock, NULL,                               \
	  (pthread_rwlock_t *l, clockid_t clock, TIME t), (l, clock, t))      \
	X(int, pthread_rwlock_clockwrlock, NULL,                               \
	  (pthread_rwlock_t *l, clockid_t clock, TIME t), (l, clock, t))      \
	X(int, pthread_spin_init, NULL, (pthread_spinlock_t *s, int pshared), \
	  (s, pshared))                                                        \
	X(int, pthread_spin_destroy, NULL, (pthread_spinlock_t *s), (s))      \
	X(int, pthread_spin_lock, NULL, (pthread_spinlock_t *s), (s))         \
	X(int, pthread_spin_trylock, NULL, (pthread_spinlock_t *s), (s))      \
	X(int, pthread_spin_unlock, NULL, (pthread_spinlock_t *s), (s))       \
	X(int, mtx_init, NULL, (mtx_t *m, int type), (m, type))               \
	X(void, mtx_destroy, NULL, (mtx_t *m), (m))                           \
	X(int, mtx_lock, NULL, (mtx_t *m), (m))                               \
	X(int, mtx_trylock, NULL, (mtx_t *m), (m))                            \
	X(int, mtx_timedlock, NULL, (mtx_t *restrict m, TIME restrict t),      \
	  (m, t))                                                              \
	X(int, mtx_unlock, NULL, (mtx_t *m), (m))                             \
	X(int, cnd_init, NULL, (cnd_t *c), (c))                               \
	X(void, cnd_destroy, NULL, (cnd_t *c), (c))                           \
	X(int, cnd_wait, NULL, (cnd_t *c, mtx_t * m), (c, m))                 \
	X(int, cnd_timedwait, NULL,                                            \
	  (cnd_t *restrict c, mtx_t *restrict m, TIME restrict t), (c, m, t))  \
	X(int, cnd_signal, NULL, (cnd_t *c), (c))                             \
	X(int, cnd_broadcast, NULL, (cnd_t *c), (c))

/* --- bound by the dynamic linker ----------------------------------------- */

/* real_NAME stands for __pthread_NAME, which has no default version to link to. */
#define X(name, parameters, arguments)                                      \
	__asm__(".symver real_" #name ", __pthread_" #name "@" GLIBC_BASE); \
	extern int real_##name parameters;                                  \
	EXPORT int pthread_##name parameters                                \
	{                                                                   \
		return real_##name arguments;                               \
	}
BOUND(X)
#undef X

/* --- looked up at run time ------------------------------------------------ */

enum found {
#define X(returned, name, version, parameters, arguments) FOUND_##name,
	LOOKED_UP(X)
#undef X
		NR_FOUND,
};

static const struct {
	const char *name;
	const char *version;
} wanted[NR_FOUND] = {
#define X(returned, name, version, parameters, arguments) { #name, version },
	LOOKED_UP(X)
#undef X
};
/* clang-format on */

/* NULL: not looked up yet; never changes after. Volatile: one load, one store. */
static void *volatile found[NR_FOUND];

/* Stands in where this glibc is too old to have the function. */
static int absent(void)
{
	return ENOSYS;
}

static void *look_up_in(void *where, enum found which)
{
	if (wanted[which].version)
		return dlvsym(where, wanted[which].name, wanted[which].version);
	return dlsym(where, wanted[which].name);
}

static __attribute__((cold, noinline)) void *look_up(enum found which)
{
	int saved = errno;
	void *fn = look_up_in(RTLD_NEXT, which), *libc;

	/* A library in front of us has handed the look-up on; see real.c. */
	if (fn && is_own_code(fn)) {
		libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
		fn = libc ? look_up_in(libc, which) : NULL;
	}
	if (!fn)
		fn = (void *)absent;
	found[which] = fn;
	errno = saved;
	return fn;
}

static inline void *find(enum found which)
{
	void *fn = found[which];

	return __builtin_expect(fn != NULL, 1) ? fn : look_up(which);
}

static __attribute__((constructor)) void look_up_all(void)
{
	for (int i = 0; i < NR_FOUND; i++)
		find(i);
}

/* Each has the type that glibc's header gives it. */
#define X(returned, name, version, parameters, arguments)                \
	EXPORT returned name parameters                                  \
	{                                                                \
		return ((__typeof__(&name))find(FOUND_##name))arguments; \
	}
LOOKED_UP(X)
#undef X
