/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_PROFILE_H
#define LOCKWORK_PROFILE_H

/*
 * Names of locks for `lockwork profile`. This header needs no library. The recorder has the
 * function that it calls. Without the recorder the call does nothing.
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reports call the lock at @lock, or the condition variable, by @name from now on. The first 63 bytes of
 * @name are kept, in UTF-8. @lock is the address that the lock calls get: a pthread_mutex_t,
 * the native_handle() of a std::mutex. The name stays with the address, so name a lock again
 * that is made where another one was.
 */
static inline void lw_profile_name(const void *lock, const char *name)
{
#ifdef __x86_64__
	void (*record)(const void *, const char *);

	/* By the global offset table, or a program that is not position-independent would not ask. */
	__asm__(".weak rec_name_lock\n\tmovq rec_name_lock@GOTPCREL(%%rip), %0"
		: "=r"(record));
	if (record)
		record(lock, name);
#else
	(void)lock;
	(void)name;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
