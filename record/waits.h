/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_WAITS_H
#define REC_WAITS_H

/* A wait: what is known of it, who sees it, and whether it is watched. */
#include "record.h"

struct rec_wanted;

/* What is known of a wait before it ends. */
struct rec_waiting {
	void *lock;
	struct rec_wanted *wanted;
	struct rec_stack *stack;
	u64 since, holder_site, holder, queue, slept, preempted;
	u32 stands_for; /* waits; 0: it is not watched */
	bool back; /* of a mutex at the end of a condition wait, not of an acquisition */
};

/* Some 2 milliseconds: so long a wait stands for itself alone. */
#define REC_LONG_WAIT (1u << 22)

/* How many threads but @but wait for @lock now; as far as is seen. */
u64 rec_waiters(void *lock, u32 but);
/* The same of those whose waits are watched. */
u64 rec_watchers(void *lock, u32 but);
/* Shows other threads that this one waits. */
void rec_announce(struct rec_waiting *w, struct rec_thread *t,
		  const struct rec_site *s);
/* For how many waits the next one at the site of @d is to stand; 0: it is not watched. */
u32 rec_stands_for(struct rec_thread *t, const struct rec_detail *d);

#endif
