// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The table of what each thread waits for, which is a part of the file. */
#include "calls.h"

void rec_announce(struct rec_waiting *w, struct rec_thread *t,
		  const struct rec_site *s)
{
	struct rec_wait *mine = &rec_waits()[t->number];

	_Static_assert(sizeof(mine->held) == REC_SHOWN * sizeof(u64), "held");
	if (t->number >= REC_MAX_WAITS)
		return;
	WRITE_ONCE(mine->site, rec_site_address(s));
	WRITE_ONCE(mine->since, w->since);
	WRITE_ONCE(mine->holder, w->holder);
	WRITE_ONCE(mine->depth, t->depth);
	WRITE_ONCE(mine->watched, !!w->stands_for);
	for (u32 i = 0; i < t->depth && i < REC_SHOWN; i++)
		WRITE_ONCE(mine->held[i], (u64)t->held[t->depth - 1 - i].lock);
	smp_store_release(&mine->lock, (u64)w->lock);
}

void rec_wait_clear(struct rec_thread *t)
{
	if (t->number < REC_MAX_WAITS)
		WRITE_ONCE(rec_waits()[t->number].lock, 0);
}

static u64 waiters(void *lock, u32 but, bool all)
{
	u64 threads = READ_ONCE(rec_file->threads), n = 0;

	if (threads > REC_MAX_WAITS)
		threads = REC_MAX_WAITS;
	for (u32 i = 0; i < threads; i++) {
		const struct rec_wait *other = &rec_waits()[i];

		n += i != but && READ_ONCE(other->lock) == (u64)lock &&
		     (all || READ_ONCE(other->watched));
	}
	return n;
}

u64 rec_waiters(void *lock, u32 but)
{
	return waiters(lock, but, true);
}

u64 rec_watchers(void *lock, u32 but)
{
	return waiters(lock, but, false);
}
