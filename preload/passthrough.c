// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The control arm: every function that the interposer replaces, each handed
 * straight on to glibc. A program under it runs glibc's own locks, so what it
 * loses against a plain run is the price of interposition itself: one more
 * call, and one more load for the functions found at run time.
 *
 * Two ways lead to glibc's functions:
 *  - where glibc has a second name, __pthread_*, the dynamic linker binds it
 *    before any code of the program runs. These are the functions that
 *    allocators and early constructors call;
 *  - the others are looked up once, by the constructor or by the first call,
 *    whichever comes first. Each look-up finds the same address, so racing
 *    ones need no lock.
 */
#define _GNU_SOURCE
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

/* --- bound by the dynamic linker ----------------------------------------- */

/* @alias stands for glibc's @name, which has no default version to link to. */
#define GLIBC(alias, name) __asm__(".symver " #alias ", " #name "@" GLIBC_BASE)

extern int real_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
extern int real_mutex_destroy(pthread_mutex_t *);
extern int real_mutex_lock(pthread_mutex_t *);
extern int real_mutex_trylock(pthread_mutex_t *);
extern int real_mutex_unlock(pthread_mutex_t *);
extern int real_rwlock_init(pthread_rwlock_t *, const pthread_rwlockattr_t *);
extern int real_rwlock_destroy(pthread_rwlock_t *);
extern int real_rwlock_rdlock(pthread_rwlock_t *);
extern int real_rwlock_wrlock(pthread_rwlock_t *);
extern int real_rwlock_tryrdlock(pthread_rwlock_t *);
extern int real_rwlock_trywrlock(pthread_rwlock_t *);
extern int real_rwlock_unlock(pthread_rwlock_t *);

GLIBC(real_mutex_init, __pthread_mutex_init);
GLIBC(real_mutex_destroy, __pthread_mutex_destroy);
GLIBC(real_mutex_lock, __pthread_mutex_lock);
GLIBC(real_mutex_trylock, __pthread_mutex_trylock);
GLIBC(real_mutex_unlock, __pthread_mutex_unlock);
GLIBC(real_rwlock_init, __pthread_rwlock_init);
GLIBC(real_rwlock_destroy, __pthread_rwlock_destroy);
GLIBC(real_rwlock_rdlock, __pthread_rwlock_rdlock);
GLIBC(real_rwlock_wrlock, __pthread_rwlock_wrlock);
GLIBC(real_rwlock_tryrdlock, __pthread_rwlock_tryrdlock);
GLIBC(real_rwlock_trywrlock, __pthread_rwlock_trywrlock);
GLIBC(real_rwlock_unlock, __pthread_rwlock_unlock);

/* --- looked up at run time ------------------------------------------------ */

enum found {
	MUTEX_TIMEDLOCK,
	MUTEX_CLOCKLOCK,
	COND_INIT,
	COND_DESTROY,
	COND_WAIT,
	COND_TIMEDWAIT,
	COND_CLOCKWAIT,
	COND_SIGNAL,
	COND_BROADCAST,
	RWLOCK_TIMEDRDLOCK,
	RWLOCK_TIMEDWRLOCK,
	RWLOCK_CLOCKRDLOCK,
	RWLOCK_CLOCKWRLOCK,
	SPIN_INIT,
	SPIN_DESTROY,
	SPIN_LOCK,
	SPIN_TRYLOCK,
	SPIN_UNLOCK,
	MTX_INIT,
	MTX_DESTROY,
	MTX_LOCK,
	MTX_TRYLOCK,
	MTX_TIMEDLOCK,
	MTX_UNLOCK,
	CND_INIT,
	CND_DESTROY,
	CND_WAIT,
	CND_TIMEDWAIT,
	CND_SIGNAL,
	CND_BROADCAST,
	NR_FOUND,
};

/* A version is given where the default is not the only one to be met. */
static const struct {
	const char *name;
	const char *version;
} wanted[NR_FOUND] = {
	[MUTEX_TIMEDLOCK] = { "pthread_mutex_timedlock", NULL },
	[MUTEX_CLOCKLOCK] = { "pthread_mutex_clocklock", NULL },
	[COND_INIT] = { "pthread_cond_init", GLIBC_COND },
	[COND_DESTROY] = { "pthread_cond_destroy", GLIBC_COND },
	[COND_WAIT] = { "pthread_cond_wait", GLIBC_COND },
	[COND_TIMEDWAIT] = { "pthread_cond_timedwait", GLIBC_COND },
	[COND_CLOCKWAIT] = { "pthread_cond_clockwait", NULL },
	[COND_SIGNAL] = { "pthread_cond_signal", GLIBC_COND },
	[COND_BROADCAST] = { "pthread_cond_broadcast", GLIBC_COND },
	[RWLOCK_TIMEDRDLOCK] = { "pthread_rwlock_timedrdlock", NULL },
	[RWLOCK_TIMEDWRLOCK] = { "pthread_rwlock_timedwrlock", NULL },
	[RWLOCK_CLOCKRDLOCK] = { "pthread_rwlock_clockrdlock", NULL },
	[RWLOCK_CLOCKWRLOCK] = { "pthread_rwlock_clockwrlock", NULL },
	[SPIN_INIT] = { "pthread_spin_init", NULL },
	[SPIN_DESTROY] = { "pthread_spin_destroy", NULL },
	[SPIN_LOCK] = { "pthread_spin_lock", NULL },
	[SPIN_TRYLOCK] = { "pthread_spin_trylock", NULL },
	[SPIN_UNLOCK] = { "pthread_spin_unlock", NULL },
	[MTX_INIT] = { "mtx_init", NULL },
	[MTX_DESTROY] = { "mtx_destroy", NULL },
	[MTX_LOCK] = { "mtx_lock", NULL },
	[MTX_TRYLOCK] = { "mtx_trylock", NULL },
	[MTX_TIMEDLOCK] = { "mtx_timedlock", NULL },
	[MTX_UNLOCK] = { "mtx_unlock", NULL },
	[CND_INIT] = { "cnd_init", NULL },
	[CND_DESTROY] = { "cnd_destroy", NULL },
	[CND_WAIT] = { "cnd_wait", NULL },
	[CND_TIMEDWAIT] = { "cnd_timedwait", NULL },
	[CND_SIGNAL] = { "cnd_signal", NULL },
	[CND_BROADCAST] = { "cnd_broadcast", NULL },
};

static void *found[NR_FOUND]; /* NULL: not looked up yet; never changes after */

/* Stands in where this glibc is too old to have the function. */
static int absent(void)
{
	return ENOSYS;
}

static __attribute__((cold, noinline)) void *look_up(enum found which)
{
	int saved = errno;
	void *fn;

	if (wanted[which].version)
		fn = dlvsym(RTLD_NEXT, wanted[which].name,
			    wanted[which].version);
	else
		fn = dlsym(RTLD_NEXT, wanted[which].name);
	if (!fn)
		fn = (void *)absent;
	__atomic_store_n(&found[which], fn, __ATOMIC_RELAXED);
	errno = saved;
	return fn;
}

static inline void *find(enum found which)
{
	void *fn = __atomic_load_n(&found[which], __ATOMIC_RELAXED);

	return __builtin_expect(fn != NULL, 1) ? fn : look_up(which);
}

/* glibc's own @name, with the type that its header gives it. */
#define REAL(which, name) ((__typeof__(&name))find(which))

static __attribute__((constructor)) void look_up_all(void)
{
	for (int i = 0; i < NR_FOUND; i++)
		find(i);
}

/* --- mutexes -------------------------------------------------------------- */

EXPORT int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
	return real_mutex_init(m, a);
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
	return real_mutex_destroy(m);
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	return real_mutex_lock(m);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	return real_mutex_trylock(m);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t)
{
	return REAL(MUTEX_TIMEDLOCK, pthread_mutex_timedlock)(m, t);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *t)
{
	return REAL(MUTEX_CLOCKLOCK, pthread_mutex_clocklock)(m, clock, t);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	return real_mutex_unlock(m);
}

/* --- condition variables -------------------------------------------------- */

EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a)
{
	return REAL(COND_INIT, pthread_cond_init)(c, a);
}

EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
	return REAL(COND_DESTROY, pthread_cond_destroy)(c);
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return REAL(COND_WAIT, pthread_cond_wait)(c, m);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *t)
{
	return REAL(COND_TIMEDWAIT, pthread_cond_timedwait)(c, m, t);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
				  clockid_t clock, const struct timespec *t)
{
	return REAL(COND_CLOCKWAIT, pthread_cond_clockwait)(c, m, clock, t);
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	return REAL(COND_SIGNAL, pthread_cond_signal)(c);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	return REAL(COND_BROADCAST, pthread_cond_broadcast)(c);
}

/* --- read/write locks ----------------------------------------------------- */

EXPORT int pthread_rwlock_init(pthread_rwlock_t *l,
			       const pthread_rwlockattr_t *a)
{
	return real_rwlock_init(l, a);
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	return real_rwlock_destroy(l);
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	return real_rwlock_rdlock(l);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	return real_rwlock_wrlock(l);
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return real_rwlock_tryrdlock(l);
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return real_rwlock_trywrlock(l);
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l,
				      const struct timespec *t)
{
	return REAL(RWLOCK_TIMEDRDLOCK, pthread_rwlock_timedrdlock)(l, t);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l,
				      const struct timespec *t)
{
	return REAL(RWLOCK_TIMEDWRLOCK, pthread_rwlock_timedwrlock)(l, t);
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *t)
{
	return REAL(RWLOCK_CLOCKRDLOCK, pthread_rwlock_clockrdlock)(l, clock,
								    t);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *t)
{
	return REAL(RWLOCK_CLOCKWRLOCK, pthread_rwlock_clockwrlock)(l, clock,
								    t);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	return real_rwlock_unlock(l);
}

/* --- spinlocks ------------------------------------------------------------ */

EXPORT int pthread_spin_init(pthread_spinlock_t *s, int pshared)
{
	return REAL(SPIN_INIT, pthread_spin_init)(s, pshared);
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *s)
{
	return REAL(SPIN_DESTROY, pthread_spin_destroy)(s);
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *s)
{
	return REAL(SPIN_LOCK, pthread_spin_lock)(s);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *s)
{
	return REAL(SPIN_TRYLOCK, pthread_spin_trylock)(s);
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *s)
{
	return REAL(SPIN_UNLOCK, pthread_spin_unlock)(s);
}

/* --- C11 threads ---------------------------------------------------------- */

EXPORT int mtx_init(mtx_t *m, int type)
{
	return REAL(MTX_INIT, mtx_init)(m, type);
}

EXPORT void mtx_destroy(mtx_t *m)
{
	REAL(MTX_DESTROY, mtx_destroy)(m);
}

EXPORT int mtx_lock(mtx_t *m)
{
	return REAL(MTX_LOCK, mtx_lock)(m);
}

EXPORT int mtx_trylock(mtx_t *m)
{
	return REAL(MTX_TRYLOCK, mtx_trylock)(m);
}

EXPORT int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict t)
{
	return REAL(MTX_TIMEDLOCK, mtx_timedlock)(m, t);
}

EXPORT int mtx_unlock(mtx_t *m)
{
	return REAL(MTX_UNLOCK, mtx_unlock)(m);
}

EXPORT int cnd_init(cnd_t *c)
{
	return REAL(CND_INIT, cnd_init)(c);
}

EXPORT void cnd_destroy(cnd_t *c)
{
	REAL(CND_DESTROY, cnd_destroy)(c);
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	return REAL(CND_WAIT, cnd_wait)(c, m);
}

EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
			 const struct timespec *restrict t)
{
	return REAL(CND_TIMEDWAIT, cnd_timedwait)(c, m, t);
}

EXPORT int cnd_signal(cnd_t *c)
{
	return REAL(CND_SIGNAL, cnd_signal)(c);
}

EXPORT int cnd_broadcast(cnd_t *c)
{
	return REAL(CND_BROADCAST, cnd_broadcast)(c);
}
