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

/* A lock that no policy replaces was seen: one that is made later may lie in its place. */
static u32 any_kept;

static void note_kept(struct rec_thread *t, u64 lock, u64 why)
{
	struct rec_kept *k;

	if (!why && !READ_ONCE(any_kept))
		return;
	WRITE_ONCE(any_kept, 1);
	k = rec_other(t, REC_KEPT, lock, 0, sizeof(*k));
	if (k) {
		k->why = why;
		k->since = rec_ticks();
	}
}

/*
 * Which bit of which word glibc sets in a process-shared condition variable. The word is
 * another one in glibc 2.41. No bit: not known.
 */
static u32 shared_word, shared_bit;

/* A policy's own words come first in its condition variables. Those behind them stay 0. */
#define OTHERS 6

void rec_known_prepare(void)
{
	union {
		pthread_cond_t cond;
		u32 words[sizeof(pthread_cond_t) / sizeof(u32)];
	} c = { .words = { 0 } };
	const u32 count = sizeof(c.words) / sizeof(*c.words);
	u32 word = 0, words = 0;
	pthread_condattr_t attr;
	int err;

	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	err = PASS(pthread_cond_init)(&c.cond, &attr);
	pthread_condattr_destroy(&attr);
	for (u32 i = 0; i < count; i++) {
		if (c.words[i]) {
			word = i;
			words++;
		}
	}
	/* Of a private one all words are 0, as a static initializer leaves them. */
	if (err || words != 1 || word < OTHERS ||
	    c.words[word] & (c.words[word] - 1))
		return;
	shared_word = word;
	shared_bit = c.words[word];
}

/*
 * A policy leaves such locks alone, so the words where glibc has their kinds are glibc's. A
 * spinlock does not tell.
 */
static u64 why_kept(const void *lock, u32 use)
{
	const u32 *words = lock;
	const pthread_rwlock_t *l = lock;
	const pthread_mutex_t *m = lock;
	u32 kind;

	switch (use) {
	case REC_MUTEX:
	case REC_BACK:
		kind = (u32)READ_ONCE(m->__data.__kind);
		return kind & ~(u32)KNOWN ? 0 : kind & WHY;
	case REC_READ:
	case REC_WRITE:
		return READ_ONCE(l->__data.__shared) ? SHARED : 0;
	case REC_COND:
	case REC_SIGNAL:
	case REC_BROADCAST:
		return READ_ONCE(words[shared_word]) & shared_bit ? SHARED : 0;
	default:
		return 0;
	}
}

void rec_kept(struct rec_thread *t, const struct rec_site *s)
{
	u64 why = why_kept((const void *)s->lock, rec_site_kind(s));

	if (why)
		note_kept(t, s->lock, why);
}

void rec_made(void *lock, u32 use, bool shared)
{
	struct rec_thread *t = rec_thread();

	if (!t)
		return;
	rec_busy(t);
	note_kept(t, (u64)lock, shared ? SHARED : why_kept(lock, use));
	rec_idle(t);
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
