/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_MUTEX_PARTS_H
#define REC_MUTEX_PARTS_H

/* Steps of which the calls that lock a mutex are made. */
#include "calls.h"
#include "probes.h"

/*
 * Bits of glibc's kind of mutex; the reader knows them, too. glibc's trylock changes errno
 * where a mutex with a priority ceiling refuses, and leaves a robust mutex locked that
 * cannot be recovered. Their locks are not tried first.
 */
#define ROBUST	 0x10
#define INHERITS 0x20
#define CEILING	 0x40
#define SHARED	 0x80
#define TYPE	 3
#define WHY	 (ROBUST | INHERITS | CEILING | SHARED)
#define KNOWN	 (TYPE | WHY | 0x300) /* and lock elision */

/* It is tried first, and nobody asks how deep it is held: the default type, or adaptive. */
static inline bool is_plain(const pthread_mutex_t *m)
{
	u32 kind = (u32)READ_ONCE(m->__data.__kind) & (TYPE | ROBUST | CEILING);

	return likely(!kind) || kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

/*
 * Nor is a free one tried first while the process has one thread: glibc's lock is cheaper
 * then, and nobody can hold it. Of a shared one another process may be the holder. A process
 * that has had a second thread is not asked again.
 */
static inline bool is_not_tried(struct rec_thread *t, const pthread_mutex_t *m)
{
	u32 kind = (u32)READ_ONCE(m->__data.__kind);

	if (unlikely(t->alone)) {
		t->alone = rec_alone();
		if (t->alone && !(kind & SHARED) &&
		    !READ_ONCE(m->__data.__lock))
			return true;
	}
	if (likely(!(kind & (ROBUST | CEILING))))
		return false;
	if (!READ_ONCE(rec_file->untried))
		WRITE_ONCE(rec_file->untried, 1);
	return true;
}

#endif
