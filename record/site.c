// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The records of a thread, and the hash table by which it finds them. */
#include "site.h"

#include <string.h>
#include <sys/mman.h>

#define DEEPEST 32

/* All records begin like struct rec_init; what else tells two apart is compared by type. */
struct key {
	u32 type, kind;
	u64 lock, site, holder_site, holder;
	void **stack;
	u64 depth;
};

static bool same(const struct rec_init *record, const struct key *key)
{
	const struct rec_site *s = (const void *)record;
	const struct rec_blame *b = (const void *)record;
	const struct rec_stack *k = (const void *)record;

	if (record->what != key->type || record->lock != key->lock ||
	    record->site != key->site)
		return false;
	switch (key->type) {
	case REC_SITE:
		return s->kind == key->kind;
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
	u64 mask = t->mask * 2 + 1, at;
	u64 *index = rec_memory((mask + 1) * sizeof(*index));

	if (!index)
		return t->records < t->mask;
	for (u64 old = 0; old <= t->mask; old++) {
		u64 slot = t->index[old];

		if (!slot)
			continue;
		at = (slot >> 32) & mask;
		while (index[at])
			at = (at + 1) & mask;
		index[at] = slot;
	}
	munmap(t->index, (t->mask + 1) * sizeof(*t->index));
	t->index = index;
	t->mask = mask;
	return true;
}

/* The record with @key, a new one of @bytes if there is none; NULL: no room. */
static void *find(struct rec_thread *t, const struct key *key, u32 tag,
		  u32 bytes)
{
	struct rec_init *record;
	u64 at = tag & t->mask;

	for (; t->index[at]; at = (at + 1) & t->mask) {
		record = rec_at((u32)t->index[at]);
		if (t->index[at] >> 32 == tag && same(record, key))
			return record;
	}
	if (t->records >= t->mask / 4 * 3 && !grow(t))
		return NULL;
	record = rec_room(t, key->type, bytes);
	if (!record)
		return NULL;
	record->site = key->site;
	record->lock = key->lock;
	for (at = tag & t->mask; t->index[at];)
		at = (at + 1) & t->mask;
	t->index[at] =
		(u64)tag << 32 | (u64)((char *)record - (char *)rec_file) >> 3;
	t->records++;
	return record;
}

struct rec_site *rec_site_find(struct rec_thread *t, void *lock, u64 site,
			       u32 kind)
{
	struct key key = {
		.type = REC_SITE, .kind = kind, .lock = (u64)lock, .site = site
	};
	u64 before = t->records;
	struct rec_site *s;

	rec_busy(t);
	s = find(t, &key, rec_tag(key.lock, site, kind), sizeof(*s));
	if (s && t->records != before) {
		s->kind = kind;
		rec_maps_note(site);
	}
	rec_idle(t);
	if (!s)
		t->info->dropped++;
	return s ? s : t->lost;
}

struct rec_detail *rec_detail(struct rec_thread *t, struct rec_site *s)
{
	struct rec_detail *d;

	if (likely(s->detail))
		return rec_at(s->detail);
	if (s == t->lost)
		return NULL;
	rec_busy(t);
	d = rec_room(t, REC_DETAIL, sizeof(*d));
	rec_idle(t);
	if (d)
		s->detail = (u32)(((char *)d - (char *)rec_file) >> 3);
	return d;
}

struct rec_blame *rec_blame(struct rec_thread *t, const struct rec_site *s,
			    u64 holder_site, u64 holder)
{
	struct key key = { .type = REC_BLAME,
			   .lock = s->lock,
			   .site = s->site,
			   .holder_site = holder_site,
			   .holder = holder };
	u32 tag = rec_tag(s->lock + holder, s->site + holder_site, REC_BLAME);
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
			   .site = s->site,
			   .stack = stack,
			   .depth = depth };
	u64 sum = 0;
	struct rec_stack *k;

	for (u32 i = 0; i < depth; i++)
		sum = sum * 31 + (u64)stack[i];
	k = find(t, &key, rec_tag(s->lock, s->site + sum, REC_STACK),
		 (u32)(sizeof(*k) + depth * sizeof(u64)));
	if (k && !k->depth) {
		memcpy(k + 1, stack, depth * sizeof(u64));
		k->kind = s->kind;
		k->depth = depth;
	}
	return k;
}

void rec_init(void *lock, void *site)
{
	struct rec_thread *t = rec_thread();
	struct key key = { .type = REC_INIT,
			   .lock = (u64)lock,
			   .site = (u64)site };

	if (!t)
		return;
	rec_busy(t);
	if (find(t, &key, rec_tag(key.lock, key.site, REC_KINDS),
		 sizeof(struct rec_init)))
		rec_maps_note(key.site);
	rec_idle(t);
}
