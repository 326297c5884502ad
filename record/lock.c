// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The recorder's lock, which is glibc's whatever else is loaded. */
#define _GNU_SOURCE
#include "state.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

/*
 * glibc's own under second names, for an allocator that locks inside of dlsym(). A sanitizer has
 * functions of these names that do not work, so they serve only until the others are known.
 */
extern int __pthread_mutex_lock(pthread_mutex_t *m);
extern int __pthread_mutex_unlock(pthread_mutex_t *m);
__asm__(".symver __pthread_mutex_lock, __pthread_mutex_lock@GLIBC_2.2.5");
__asm__(".symver __pthread_mutex_unlock, __pthread_mutex_unlock@GLIBC_2.2.5");

static __typeof__(&pthread_mutex_lock) lock, unlock;

void rec_lock_prepare(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (!libc)
		return;
	unlock = (__typeof__(unlock))dlsym(libc, "pthread_mutex_unlock");
	lock = (__typeof__(lock))dlsym(libc, "pthread_mutex_lock");
}

void rec_lock(struct rec_guard *guard)
{
	static const int own[] = { SIGTRAP, SIGSEGV, SIGBUS,
				   SIGFPE,  SIGILL,  SIGSYS };
	sigset_t all, old;

	_Static_assert(sizeof(sigset_t) >= sizeof(u64), "the kernel has 64");
	guard->error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel);
	sigfillset(&all);
	/* These come from what a thread does itself, and blocked they would end it. */
	for (u32 i = 0; i < sizeof(own) / sizeof(*own); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	memcpy(&guard->signals, &old, sizeof(guard->signals));
	rec_entering++;
	(lock ? lock : __pthread_mutex_lock)(&rec_state.lock);
}

void rec_unlock(const struct rec_guard *guard)
{
	sigset_t old;

	(unlock ? unlock : __pthread_mutex_unlock)(&rec_state.lock);
	rec_entering--;
	sigemptyset(&old);
	memcpy(&old, &guard->signals, sizeof(guard->signals));
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_setcancelstate(guard->cancel, NULL);
	errno = guard->error;
}
