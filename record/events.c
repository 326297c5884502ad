// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The timeline: single events, in bounded memory. A thread whose memory is full keeps what
 * is long, and of the rest what began in every second of the windows of time that it kept
 * before. All threads count windows by the same counter, so in a window that is kept there
 * are the events of all of them.
 */
#include "calls.h"
#include "state.h"

/* Nothing is longer than a window times 2 to this. */
#define LAST_LEVEL 40

static struct rec_event *event_at(const struct rec_thread *t, u32 n)
{
	return (struct rec_event *)(t->chunk[n / REC_CHUNK] + 1) +
	       n % REC_CHUNK;
}

static inline bool is_time_kept(u64 from, u64 end, u32 level)
{
	u64 window = (from - rec_file->start_ticks) >> REC_WINDOW;

	return !(window & ((1ULL << level) - 1)) ||
	       (end > from && (end - from) >> (REC_WINDOW + level));
}

static bool is_kept(const struct rec_event *e, u32 level)
{
	u64 end = e->released ? e->released : e->acquired;
	u64 from = e->since	 ? e->since
		   : e->acquired ? e->acquired
				 : e->released;

	return is_time_kept(from, end, level);
}

static void set_level(struct rec_thread *t, u32 level)
{
	t->level = level;
	if (t->chunks)
		WRITE_ONCE(t->chunk[0]->level, level);
	if (READ_ONCE(rec_state.level) < level)
		WRITE_ONCE(rec_state.level, level);
}

static void set_events(struct rec_thread *t, u32 n)
{
	t->events = n;
	for (u32 i = 0; i < t->chunks; i++) {
		WRITE_ONCE(t->chunk[i]->count, n < REC_CHUNK ? n : REC_CHUNK);
		n -= n < REC_CHUNK ? n : REC_CHUNK;
	}
}

/* The hold that has this event; NULL: none. */
static struct rec_timed *hold_of(struct rec_thread *t,
				 const struct rec_event *e)
{
	for (u32 i = 0; !e->released && i < t->depth; i++) {
		if (t->held[i].record & REC_TIMED && t->timed[i].event == e)
			return &t->timed[i];
	}
	return NULL;
}

static void leave_out(struct rec_thread *t)
{
	u32 n = 0;

	for (u32 i = 0; i < t->events; i++) {
		struct rec_event *from = event_at(t, i), *to = event_at(t, n);
		struct rec_timed *h = hold_of(t, from);

		if (!h && !is_kept(from, t->level))
			continue;
		*to = *from;
		if (h)
			h->event = to;
		n++;
	}
	set_events(t, n);
}

/* Events are not to take the room of what is counted: half of the file is enough. */
static bool add_chunk(struct rec_thread *t)
{
	struct rec_events *c;

	if (t->chunks == REC_CHUNKS || rec_file->used > REC_CAPACITY / 2)
		return false;
	c = rec_room(t, REC_EVENTS,
		     sizeof(*c) + REC_CHUNK * sizeof(struct rec_event));
	if (!c)
		return false;
	t->chunk[t->chunks++] = c;
	set_level(t, t->level);
	return true;
}

static bool has_room(struct rec_thread *t)
{
	u32 all, shared = READ_ONCE(rec_state.level);

	if (shared > t->level)
		set_level(t, shared);
	if (t->events < t->chunks * REC_CHUNK || add_chunk(t))
		return true;
	all = t->events;
	leave_out(t);
	while (t->events > all / 4 * 3 && t->level < LAST_LEVEL) {
		set_level(t, t->level + 1);
		leave_out(t);
	}
	return t->events < all;
}

static struct rec_event *add(struct rec_thread *t, const struct rec_event *e)
{
	struct rec_event *at = NULL;

	if (!e->lock)
		return NULL;
	rec_busy(t);
	if (has_room(t)) {
		at = event_at(t, t->events);
		*at = *e;
		WRITE_ONCE(t->chunk[t->events / REC_CHUNK]->count,
			   t->events % REC_CHUNK + 1);
		t->events++;
	}
	rec_idle(t);
	return at;
}

struct rec_event *rec_event_wait(struct rec_thread *t, const struct rec_site *s,
				 const struct rec_waiting *w, u64 now, int err)
{
	bool late = err == ETIMEDOUT;
	struct rec_event e = {
		.lock = s->lock,
		.site = rec_site_address(s),
		.since = w->since,
		.acquired = now,
		.released = late ? now : 0,
		.holder_site = w->holder_site,
		.holder = (u32)w->holder,
		.kind = rec_site_kind(s) | (late ? REC_TIMED_OUT : 0),
	};

	/* How long it will be held is not known yet. */
	return !late || is_kept(&e, t->level) ? add(t, &e) : NULL;
}

void rec_event_end(struct rec_thread *t, struct rec_event *e, u64 now)
{
	u32 last = t->events - 1;

	WRITE_ONCE(e->released, now);
	if (is_kept(e, t->level) || e != event_at(t, last))
		return;
	WRITE_ONCE(t->chunk[last / REC_CHUNK]->count, last % REC_CHUNK);
	t->events = last;
}

static __cold void add_hold(struct rec_thread *t, const struct rec_site *s,
			    u64 start, u64 now)
{
	struct rec_event e = {
		.lock = s->lock,
		.site = rec_site_address(s),
		.since = 0,
		.acquired = start,
		.released = now,
		.holder_site = 0,
		.holder = 0,
		.kind = rec_site_kind(s),
	};

	add(t, &e);
}

/* Each hold of a lock that others wait for comes here, and few are kept. */
void rec_event_hold(struct rec_thread *t, const struct rec_site *s, u64 start,
		    u64 now)
{
	if (is_time_kept(start ? start : now, now, t->level))
		add_hold(t, s, start, now);
}
