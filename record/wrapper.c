// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * How wrappers are found. A wait's stack tells the function's caller, and so the place of its
 * return address. If that is gone from there when the lock is released, the function has
 * returned before. A few waits that all say so, with one distance, are enough; one that does
 * not is enough for the contrary.
 */
#include "wrapper.h"
#include "site.h"
#include "stack.h"
#include "state.h"

#define ENOUGH 3
/* A wrapper's frame is not larger. */
#define FARTHEST 2048u
/* The recorder's own frames up to the one that replaces a call. */
#define OWN 8

struct rec_wrapper rec_wrappers[REC_WRAPPERS];

/* What is known of the function at the same place of rec_wrappers. */
struct guess {
	u64 site; /* 0: none */
	u64 frame;
	u32 times;
	u32 is_none; /* it is no wrapper */
};
static struct guess guesses[REC_WRAPPERS];

static struct guess *guess(u64 site)
{
	return &guesses[rec_wrapper(site) - rec_wrappers];
}

/*
 * Where the stack ends behind the call that is at @site; 0: not found. @last is the call in
 * the outermost wrapper that leads there; 0: none does.
 */
static u64 end_of(u64 site, struct rec_window *w, u64 *last)
{
	u64 at = (u64)__builtin_frame_address(0);

	for (u32 own = 0; own < OWN; own++) {
		u64 frame[2], from, end;

		if (!rec_stack_read(w, at, frame, sizeof(frame)))
			return 0;
		from = frame[1];
		end = at + sizeof(frame);
		*last = 0;
		for (u32 i = 0; from != site && i < REC_WRAPPED; i++) {
			const struct rec_wrapper *known = rec_wrapper(from);

			if (known->site != from)
				break;
			*last = from;
			end += known->frame;
			if (!rec_stack_read(w, end - 8, &from, sizeof(from)))
				return 0;
		}
		if (from == site)
			return end;
		at = frame[0];
	}
	return 0;
}

static void is_none(u64 site)
{
	struct rec_guard guard;

	rec_lock(&guard);
	guess(site)->is_none = 1;
	WRITE_ONCE(rec_wrapper(site)->site, 0);
	rec_unlock(&guard);
}

/* Whether more should be known of the function of @site. */
static bool is_open(u64 site)
{
	const struct guess *g = guess(site);

	return !g->site ||
	       (g->site == site && !g->is_none && g->times < ENOUGH);
}

/* Where the stack has @back, from @end outwards; 0: not near. */
static u64 find(struct rec_window *w, u64 end, u64 back)
{
	u64 word;

	for (u64 at = end; at < end + FARTHEST; at += sizeof(word)) {
		if (!rec_stack_read(w, at, &word, sizeof(word)))
			return 0;
		if (word == back)
			return at;
	}
	return 0;
}

void rec_wrapper_ask(struct rec_thread *t, u64 site, void **frame, u32 n)
{
	struct rec_window w = { 0 };
	struct rec_asked *ask = &t->asked;
	u64 last, end = end_of(site, &w, &last);

	if (!end)
		return;
	if (last && !n)
		is_none(last);
	else if (last)
		rec_other(t, REC_OUTSIDE, last, site,
			  sizeof(struct rec_outside));
	if (n < 2 || !is_open(site))
		return;
	ask->at = find(&w, end, (u64)frame[1]);
	ask->site = site;
	ask->frame = ask->at + sizeof(u64) - end;
	ask->back = (u64)frame[1];
}

/* Not only is the return address another one: the stack may end before its place. */
static bool has_returned(const struct rec_asked *ask)
{
	struct rec_window w = { 0 };
	u64 word;

	if (ask->at < (u64)__builtin_frame_address(0))
		return true;
	return rec_stack_read(&w, ask->at, &word, sizeof(word)) &&
	       word != ask->back;
}

void rec_wrapper_answer(struct rec_thread *t)
{
	const struct rec_asked *ask = &t->asked;
	int saved = errno;
	bool returned = has_returned(ask);
	struct guess *g = guess(ask->site);
	struct rec_guard guard;

	rec_busy(t);
	rec_lock(&guard);
	if (!g->site) {
		g->site = ask->site;
		g->frame = ask->frame;
	}
	if (g->site == ask->site && !g->is_none && g->times < ENOUGH) {
		g->is_none = !returned || g->frame != ask->frame;
		g->times += !g->is_none;
		if (g->times == ENOUGH) {
			WRITE_ONCE(rec_wrapper(g->site)->frame, g->frame);
			smp_store_release(&rec_wrapper(g->site)->site, g->site);
		}
	}
	rec_unlock(&guard);
	rec_idle(t);
	t->asked.lock = NULL;
	t->asked.at = 0;
	errno = saved;
}
