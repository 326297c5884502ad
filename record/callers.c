// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The stacks of lock calls: a sample of those that wait, or all. */
#include "calls.h"
#include "stack.h"

/* Samples take at most this share of the program's time, all threads together. */
#define STACK_SHARE 256

struct rec_stack *rec_stack_of(struct rec_thread *t, struct rec_site *s,
			       bool waits)
{
	u64 now = rec_ticks(), took;
	void *frame[REC_DEEPEST];
	struct rec_stack *k = NULL;
	int saved = errno;
	u32 n;

	if ((now < t->next_stack && !rec_all_stacks) || s == &t->lost)
		return NULL;
	n = rec_unwind(frame, REC_DEEPEST, rec_site_address(s));
	if (waits)
		rec_wrapper_ask(t, rec_site_address(s), frame, n);
	if (n)
		k = rec_stack(t, s, frame, n);
	took = rec_ticks() - now;
	t->next_stack = now + took * STACK_SHARE * READ_ONCE(rec_file->threads);
	rec_file_stamp();
	errno = saved;
	return k;
}

void rec_stack_taken(struct rec_thread *t, struct rec_site *s)
{
	struct rec_stack *k;

	rec_busy(t);
	k = rec_stack_of(t, s, false);
	if (k)
		k->count++;
	rec_idle(t);
}
