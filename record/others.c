// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Records of a thread that are seldom needed, and the hash table by which it finds them. */
#include "site.h"
#include "system.h"

#include <string.h>

/* Where it is searched first, and what is kept of that in a slot. */
static u32 tag_of(u64 lock, u64 site, u64 type)
{
	u64 hash = (lock + site * 0x9e3779b97f4a7c15ULL + type) *
		   0xc2b2ae3d27d4eb4fULL;

	return (u32)(hash >> 32);
}

/* All records begin like struct rec_init; what else tells two apart is compared by type. */
struct key {
	u32 type;
	u64 lock, site, holder_site, holder;
	void **stack;
	u64 depth;
};

static bool same(const struct rec_init *record, const struct key *key)
{
	const struct rec_blame *b = (const void *)record;
	const struct rec_stack *k = (const void *)record;

	if (record->what != key->type || record->lock != key->lock ||
	    record->site != key->site)
		return false;
	switch (key->type) {
	case REC_BLAME:
		return b->holder == key->holder &&
		       b->holder_site == key->holder_site;
	case REC_STACK:
		return k->depth == key->depth &&
		       !memcmp(k + 1, key->stack, key->depth * sizeof(u64));
	default:
		return true;
	}
}

/* Twice the size; false: no memory, the old one goes on while it has a free slot. */
static bool grow(struct rec_thread *t)
{
	u64 mask = t->others_mask * 2 + 1, at;
	int error = errno;
	u64 *index = rec_memory((mask + 1) * sizeof(*index));

	errno = error;
	if (!index)
		return t->records < t->others_mask;
	for (u64 old = 0; old <= t->others_mask; old++) {
		u64 slot = t->others[old];

		if (!slot)
			continue;
		at = (slot >> 32) & mask;
		while (index[at])
			at = (at + 1) & mask;
		index[at] = slot;
	}
	sys_munmap(t->others, (t->others_mask + 1) * sizeof(*t->others));
	t->others = index;
	t->others_mask = mask;
	return true;
}

/* The record with @key, a new one of @bytes if there is none; NULL: no room. */
static void *find(struct rec_thread *t, const struct key *key, u32 tag,
		  u32 bytes)
{
	struct rec_init *record;
	u64 at = tag & t->others_mask;

	for (; t->others[at]; at = (at + 1) & t->others_mask) {
		record = rec_at((u32)t->others[at]);
		if (t->others[at] >> 32 == tag && same(record, key))
			return record;
	}
	if (t->records >= t->others_mask / 4 * 3 && !grow(t))
		return NULL;
	record = rec_room(t, key->type, bytes);
	if (!record)
		return NULL;
	record->site = key->site;
	record->lock = key->lock;
	for (at = tag & t->others_mask; t->others[at];)
		at = (at + 1) & t->others_mask;
	t->others[at] = (u64)tag << 32 | rec_place(record);
	t->records++;
	return record;
}

struct rec_blame *rec_blame(struct rec_thread *t, const struct rec_site *s,
			    u64 holder_site, u64 holder)
{
	struct key key = { .type = REC_BLAME,
			   .lock = s->lock,
			   .site = rec_site_address(s),
			   .holder_site = holder_site,
			   .holder = holder };
	u32 tag = tag_of(s->lock + holder, s->site + holder_site, REC_BLAME);
	struct rec_blame *b;

	rec_busy(t);
	b = find(t, &key, tag, sizeof(*b));
	if (b) {
		b->holder_site = holder_site;
		b->holder = holder;
	}
	rec_idle(t);
	return b;
}

struct rec_stack *rec_stack(struct rec_thread *t, const struct rec_site *s,
			    void **stack, u32 depth)
{
	struct key key = { .type = REC_STACK,
			   .lock = s->lock,
			   .site = rec_site_address(s),
			   .stack = stack,
			   .depth = depth };
	u64 sum = 0;
	struct rec_stack *k;

	for (u32 i = 0; i < depth; i++)
		sum = sum * 31 + (u64)stack[i];
	k = find(t, &key, tag_of(s->lock, s->site + sum, REC_STACK),
		 (u32)(sizeof(*k) + depth * sizeof(u64)));
	if (k && !k->depth) {
		memcpy(k + 1, stack, depth * sizeof(u64));
		k->kind = rec_site_kind(s);
		k->depth = depth;
	}
	return k;
}

void *rec_other(struct rec_thread *t, u32 type, u64 lock, u64 site, u32 bytes)
{
	struct key key = { .type = type, .lock = lock, .site = site };

	return find(t, &key, tag_of(lock, site, type), bytes);
}

void rec_inside(struct rec_thread *t, const struct rec_site *s, void *outer,
		u32 weight, u64 waited)
{
	struct rec_timing *u = s->timing ? rec_at(s->timing) : NULL;
	struct rec_inside *i = u && u->inside ? rec_at(u->inside) : NULL;

	if (!i || i->lock != s->lock || i->outer != (u64)outer) {
		rec_busy(t);
		/* The outer lock is where other records have a site. */
		i = rec_other(t, REC_INSIDE, s->lock, (u64)outer, sizeof(*i));
		rec_idle(t);
		if (i && u)
			u->inside = rec_place(i);
	}
	if (!i)
		return;
	i->count += weight;
	i->waited += waited;
}
