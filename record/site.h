/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_SITE_H
#define REC_SITE_H

/* A thread's records, and how a call finds its own. */
#include "record.h"

__cold struct rec_site *rec_site_find(struct rec_thread *t, void *lock,
				      u64 site, u32 kind);
/* NULL: no room for one. */
struct rec_detail *rec_detail(struct rec_thread *t, struct rec_site *s);
struct rec_blame *rec_blame(struct rec_thread *t, const struct rec_site *s,
			    u64 holder_site, u64 holder);
/* @stack: @depth return addresses, from @s's site outwards. */
struct rec_stack *rec_stack(struct rec_thread *t, const struct rec_site *s,
			    void **stack, u32 depth);
__cold void rec_init(void *lock, void *site);

/* A slot of the index: this, and the record's place in units of 8 bytes. */
static inline u32 rec_tag(u64 lock, u64 site, u64 kind)
{
	u64 hash = (lock + site * 0x9e3779b97f4a7c15ULL + kind) *
		   0xc2b2ae3d27d4eb4fULL;

	return (u32)(hash >> 32);
}

static inline void *rec_at(u64 place)
{
	return (char *)rec_file + (place << 3);
}

/* Never NULL: where there is no room, one record of the thread counts for all. */
static inline struct rec_site *rec_site(struct rec_thread *t, void *lock,
					void *site, u32 kind)
{
	u64 slot = t->index[rec_tag((u64)lock, (u64)site, kind) & t->mask];
	struct rec_site *s = rec_at((u32)slot);

	if (likely(s->lock == (u64)lock && s->site == (u64)site &&
		   s->kind == kind && s->what == REC_SITE))
		return s;
	return rec_site_find(t, lock, (u64)site, kind);
}

#endif
