// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The stacks of lock calls: a sample of those that wait, the long ones among these, or all. */
#include "calls.h"
#include "stack.h"

/* Samples of one kind take at most this share of the program's time, all threads together. */
#define STACK_SHARE 256

/* A stack that goes on has a zero in place of the rest. */
static u32 cut(void **frame, u32 n)
{
	if (n <= REC_DEEPEST)
		return n;
	frame[REC_DEEPEST] = NULL;
	return REC_DEEPEST + 1;
}

struct rec_stack *rec_stack_of(struct rec_thread *t, struct rec_site *s,
			       enum rec_moment when)
{
	u64 now = rec_ticks(), took;
	void *frame[REC_UNWOUND];
	struct rec_stack *k = NULL;
	int saved = errno;
	u32 n;

	if ((now < t->next_stack[when] && !rec_all_stacks) || s == &t->lost)
		return NULL;
	n = cut(frame, rec_unwind(frame, REC_UNWOUND, rec_site_address(s)));
	if (when == REC_BEFORE_WAIT)
		rec_wrapper_ask(t, rec_site_address(s), frame, n);
	if (n)
		k = rec_stack(t, s, frame, n);
	took = rec_ticks() - now;
	t->next_stack[when] =
		now + took * STACK_SHARE * READ_ONCE(rec_file->threads);
	rec_file_stamp();
	errno = saved;
	return k;
}

void rec_stack_count(struct rec_detail *d, struct rec_stack *k, bool is_long,
		     u64 waited)
{
	d->owed[is_long] += waited;
	if (!k)
		return;
	k->count++;
	k->waited += d->owed[is_long];
	d->owed[is_long] = 0;
}

/*
 * A few long waits may be most of what a thread waits, and seldom one of them is watched. So each
 * is to have its stack, taken at its end. The share of time allows some stacks only: the site's
 * next wait that has one stands for those that had none, the long ones and the others apart.
 */
void rec_stack_waited(struct rec_thread *t, struct rec_site *s,
		      struct rec_detail *d, const struct rec_waiting *w,
		      u64 waited)
{
	bool is_long = waited >= REC_LONG_WAIT;
	u32 of = is_long || rec_all_stacks ? 1 : w->stands_for;
	struct rec_stack *k = w->stack;

	if (!of)
		return;
	if (!k && is_long && !rec_all_stacks) {
		rec_busy(t);
		k = rec_stack_of(t, s, REC_BEHIND_WAIT);
		rec_idle(t);
	}
	rec_stack_count(d, k, is_long, waited * of);
}

void rec_stack_taken(struct rec_thread *t, struct rec_site *s)
{
	struct rec_stack *k;

	rec_busy(t);
	k = rec_stack_of(t, s, REC_NO_WAIT);
	if (k)
		k->count++;
	rec_idle(t);
}
