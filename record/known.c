// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What is known of a lock itself: where it was made, and what the program calls it. */
#include "mutex_parts.h"
#include "site.h"
#include "stack.h"

#include <string.h>

/* A program may make locks all the time, so only its first ones have a stack, of so many frames. */
#define WITH_STACK 1024
#define FRAMES	   8
/* The recorder's own are before them. */
#define OWN 4

static void note_makers(struct rec_thread *t, struct rec_init *record)
{
	u64 *makers = (u64 *)(record + 1);
	void *frame[OWN + FRAMES];
	int saved = errno;
	u32 n;

	if (record->bytes == sizeof(*record) || *makers)
		return;
	n = rec_unwind(frame, OWN + FRAMES, record->site);
	makers[0] = record->site;
	for (u32 i = 0; i < n && i < FRAMES; i++)
		makers[i] = (u64)frame[i];
	t->made++;
	errno = saved;
}

void rec_init(void *lock, void *site)
{
	struct rec_thread *t = rec_thread();
	struct rec_init *record;
	u32 bytes = sizeof(*record);

	if (!t)
		return;
	rec_busy(t);
	if (t->made < WITH_STACK)
		bytes += FRAMES * sizeof(u64);
	record = rec_other(t, REC_INIT, (u64)lock, (u64)site, bytes);
	if (record) {
		rec_maps_note((u64)site);
		note_makers(t, record);
	}
	rec_idle(t);
}

static void note_kept(struct rec_thread *t, u64 lock, u64 why)
{
	struct rec_kept *k;

	if (!why)
		return;
	k = rec_other(t, REC_KEPT, lock, 0, sizeof(*k));
	if (k)
		k->why |= why;
}

void rec_shared_spin(void *lock)
{
	struct rec_thread *t = rec_thread();

	if (!t)
		return;
	rec_busy(t);
	note_kept(t, (u64)lock, SHARED);
	rec_idle(t);
}

/* A policy leaves such locks alone, so the words where glibc has their kinds are glibc's. */
void rec_kept(struct rec_thread *t, const struct rec_site *s)
{
	const pthread_mutex_t *m = (const void *)s->lock;
	const pthread_rwlock_t *l = (const void *)s->lock;

	switch (rec_site_kind(s)) {
	case REC_MUTEX:
	case REC_BACK:
		note_kept(t, s->lock,
			  (u32)READ_ONCE(m->__data.__kind) &
				  (ROBUST | INHERITS | CEILING | SHARED));
		break;
	case REC_READ:
	case REC_WRITE:
		/* A policy leaves this word 0 in those that it replaces. */
		if (READ_ONCE(l->__data.__shared))
			note_kept(t, s->lock, SHARED);
		break;
	default: /* a spinlock does not tell, nor does a condition variable */
		break;
	}
}

/* include/lockwork/profile.h calls it. */
EXPORT void rec_name_lock(const void *lock, const char *name);
void rec_name_lock(const void *lock, const char *name)
{
	struct rec_thread *t = rec_thread();
	struct rec_name *n;

	if (!t || !lock || !name)
		return;
	rec_busy(t);
	n = rec_other(t, REC_NAME, (u64)lock, 0, sizeof(*n));
	if (n) {
		strncpy((char *)n->name, name, sizeof(n->name) - 1);
		n->since = rec_ticks();
	}
	rec_idle(t);
}
