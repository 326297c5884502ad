// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The sites of a thread, and the hash table by which it finds them. */
#include "site.h"

#define BATCH 512u
#define LINE  64u

/* The slot of this key in @index; an empty one if it is not there. */
static u64 search(const u32 *index, u64 shift, u64 lock, u64 from)
{
	u64 at = rec_home(lock, from, shift), mask = ~0ULL >> shift;

	for (; index[at]; at = (at + 1) & mask) {
		const struct rec_site *s = rec_at(index[at]);

		if (s->lock == lock && s->site == from)
			break;
	}
	return at;
}

/*
 * Half of the slots stay empty, or nearly each call would have to search. The old index stays
 * mapped: a signal handler may have interrupted a call that is about to read it. All old ones
 * together are smaller than the present one.
 */
static bool grow(struct rec_thread *t)
{
	u64 size = 1ULL << (64 - t->shift);
	int error = errno;
	u32 *index = rec_memory(2 * size * sizeof(*index));

	errno = error;
	if (!index)
		return t->sites < size - 1;
	for (u64 old = 0; old < size; old++) {
		const struct rec_site *s = rec_at(t->index[old]);

		if (t->index[old])
			index[search(index, t->shift - 1, s->lock, s->site)] =
				t->index[old];
	}
	WRITE_ONCE(t->index, index);
	WRITE_ONCE(t->shift, t->shift - 1);
	return true;
}

/* Sites are kept apart from all other records, and none is in two cache lines. */
static bool more_room(struct rec_thread *t)
{
	u32 gap = (u32) - (u64)t->room % LINE;
	struct rec_sites *batch;

	if (gap && t->room + gap + BATCH <= t->end)
		rec_room(t, REC_PAD, gap);
	batch = rec_room(t, REC_SITES, BATCH);
	if (!batch)
		return false;
	t->next_site = (struct rec_site *)(batch + 1);
	t->last_site = (struct rec_site *)((char *)batch + BATCH);
	return true;
}

static struct rec_site *add(struct rec_thread *t, u64 lock, u64 from)
{
	struct rec_site *s;

	if ((t->sites >> (63 - t->shift) && !grow(t)) ||
	    (t->next_site == t->last_site && !more_room(t)))
		return NULL;
	s = t->next_site++;
	s->site = from;
	s->counted = 1; /* the first one is timed */
	WRITE_ONCE(s->lock, lock);
	t->index[search(t->index, t->shift, lock, from)] = rec_place(s);
	t->sites++;
	rec_maps_note(rec_site_address(s));
	rec_kept(t, s);
	return s;
}

/*
 * What is found beyond its first slot changes places with what is there: it is likely to be
 * called for again. Both stay where a search comes by.
 */
struct rec_site *rec_site_find(struct rec_thread *t, void *lock, u64 from)
{
	u64 at, first;
	struct rec_site *s;
	u32 place;

	/* No signal handler is recorded meanwhile, so the index stays what it is. */
	rec_busy(t);
	at = search(READ_ONCE(t->index), READ_ONCE(t->shift), (u64)lock, from);
	first = rec_home((u64)lock, from, t->shift);
	place = t->index[at];
	if (likely(place)) {
		t->index[at] = t->index[first];
		t->index[first] = place;
		s = rec_at(place);
	} else {
		s = add(t, (u64)lock, from);
	}
	rec_idle(t);
	if (s)
		return s;
	t->lost.counted =
		1; /* each acquisition ends the countdown, and is counted there */
	return &t->lost;
}

/* A new record that belongs to @s, whose place is kept in *@place; NULL: no room. */
static void *add_to(struct rec_thread *t, const struct rec_site *s, u32 *place,
		    u32 type, u32 bytes)
{
	void *record;

	if (s == &t->lost)
		return NULL;
	rec_busy(t);
	record = rec_room(t, type, bytes);
	rec_idle(t);
	if (record)
		*place = rec_place(record);
	return record;
}

struct rec_detail *rec_detail(struct rec_thread *t, struct rec_site *s)
{
	if (likely(s->detail))
		return rec_at(s->detail);
	return add_to(t, s, &s->detail, REC_DETAIL, sizeof(struct rec_detail));
}

struct rec_timing *rec_timing(struct rec_thread *t, struct rec_site *s)
{
	struct rec_timing *timing;

	if (likely(s->timing))
		return rec_at(s->timing);
	timing = add_to(t, s, &s->timing, REC_TIMING, sizeof(*timing));
	if (timing)
		timing->block = 1;
	return timing;
}
