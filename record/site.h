/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_SITE_H
#define REC_SITE_H

/* A thread's records, and how a call finds its own. */
#include "record.h"

/* @from: the call's return address, and its kind as in struct rec_site. */
__cold struct rec_site *rec_site_find(struct rec_thread *t, void *lock,
				      u64 from);
/* NULL: no room for one. */
struct rec_timing *rec_timing(struct rec_thread *t, struct rec_site *s);
struct rec_detail *rec_detail(struct rec_thread *t, struct rec_site *s);
struct rec_blame *rec_blame(struct rec_thread *t, const struct rec_site *s,
			    u64 holder_site, u64 holder);
/* @stack: @depth return addresses, from @s's site outwards. */
struct rec_stack *rec_stack(struct rec_thread *t, const struct rec_site *s,
			    void **stack, u32 depth);
/* @s's lock was taken @weight times, after waits of @waited ticks, while @outer was held. */
void rec_inside(struct rec_thread *t, const struct rec_site *s, void *outer,
		u32 weight, u64 waited);
/* The record of this type that @lock and @site have, a new one of @bytes if there is none; NULL: no room. */
void *rec_other(struct rec_thread *t, u32 type, u64 lock, u64 site, u32 bytes);
__cold void rec_init(void *lock, void *site);
/* Notes why no policy replaces @s's lock, if that can be seen in it. */
void rec_kept(struct rec_thread *t, const struct rec_site *s);
/* The same of a lock that was initialized just now; @shared: with other processes. */
void rec_made(void *lock, u32 use, bool shared);
/* Tries out how glibc marks a process-shared condition variable. */
void rec_known_prepare(void);

/*
 * Where the index of sites is searched first. The highest bits of such a product lie far
 * apart for locks that follow each other at equal distances, as shards do.
 */
static inline u64 rec_home(u64 lock, u64 from, u64 shift)
{
	return ((lock + (from << 23 | from >> 41)) * 0x9e3779b97f4a7c15ULL) >>
	       shift;
}

static inline void *rec_in(void *file, u64 place)
{
	return (char *)file + (place << 3);
}

static inline void *rec_at(u64 place)
{
	return rec_in(rec_file, place);
}

static inline u32 rec_place(const void *record)
{
	return (u32)((u64)((const char *)record - (char *)rec_file) >> 3);
}

/* One more acquisition, and one less until the next one that is timed. */
#define REC_COUNT_ONE ((1u << REC_COUNT_SHIFT) - 1)

#define REC_ADDRESS ((1ULL << REC_KIND_SHIFT) - 1)

static inline u32 rec_site_kind(const struct rec_site *s)
{
	return (u32)(s->site >> REC_KIND_SHIFT);
}

/* Where the call returns to. */
static inline u64 rec_site_address(const struct rec_site *s)
{
	return s->site & REC_ADDRESS;
}

static inline u64 rec_site_count(const struct rec_site *s)
{
	return s->counted >> REC_COUNT_SHIFT;
}

/* Without the countdown. */
static inline void rec_site_add(struct rec_site *s)
{
	s->counted += 1u << REC_COUNT_SHIFT;
}

/* Never NULL: where there is no room, one record of the thread counts for all. */
static inline struct rec_site *rec_site(struct rec_thread *t, void *lock,
					void *site, u32 kind)
{
	u64 from = (u64)site | (u64)kind << REC_KIND_SHIFT;
	/* In this order: a signal handler may let the index grow between the two. */
	u64 at = rec_home((u64)lock, from, READ_ONCE(t->shift));
	const u32 *index = READ_ONCE(t->index);
	/* The thread has the file's address, so that no other line is read for it. */
	struct rec_site *s = rec_in(t->file, index[at]);

	if (likely(s->lock == (u64)lock && s->site == from))
		return s;
	return rec_site_find(t, lock, from);
}

#endif
