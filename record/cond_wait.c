// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Counts waits for condition variables, and what wakes them. A waiter there waits for
 * work, so nobody is blamed and no stack is taken.
 */
#include "calls.h"

void rec_cond_begin(struct rec_waiting *w, struct rec_thread *t,
		    struct rec_site *s)
{
	*w = (struct rec_waiting){ .lock = (void *)s->lock,
				   .since = rec_ticks() };
	rec_announce(w, t, s);
	t->inside = 1;
}

bool rec_cond_end(struct rec_waiting *w, struct rec_thread *t,
		  struct rec_site *s, int err)
{
	u64 now = rec_ticks(), waited = now > w->since ? now - w->since : 0;
	struct rec_detail *d = rec_detail(t, s);

	t->inside = 0;
	rec_wait_clear(t);
	if (!rec_has_taken(err) && err != ETIMEDOUT && err != ECANCELED)
		return false;
	rec_site_add(s);
	if (d) {
		rec_count_time(d, waited);
		d->timeouts += err == ETIMEDOUT;
	}
	return true;
}

void rec_cond_woke(struct rec_thread *t, struct rec_site *s, u64 waiters)
{
	struct rec_detail *d = rec_detail(t, s);

	rec_site_add(s);
	if (!d)
		return;
	d->failed += !waiters; /* nobody to wake */
	rec_count_queue(d, waiters, 1);
}
