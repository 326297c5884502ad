// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Which waits are watched. What is done for such a wait delays the sleep, makes each holder note
 * what it does, and holds the lock longer; and it takes a look at each other thread. Where threads wait
 * often, or are many, that makes more of them wait.
 */
#include "calls.h"

/*
 * The first waits of a site are all watched, and those under a thread number. Then one in 2, in 3
 * and so on is, for so many waits each, and at last one in 256. A thread counts as if it had waited
 * LATER times for each lower number; and from the number MANY on, its sites have no first waits.
 */
#define FIRST_OF_SITE	8
#define FIRST_OF_THREAD 64
#define FOR_EACH	32
#define RARELY		256
#define LATER		2
#define MANY		64

u32 rec_stands_for(struct rec_thread *t, const struct rec_detail *d)
{
	u32 one_in = (t->waits++ + LATER * t->number) / FOR_EACH;
	bool is_new;

	if (!d)
		return 0;
	is_new = d->contended < FIRST_OF_SITE && t->number < MANY;
	if (is_new || one_in < FIRST_OF_THREAD / FOR_EACH)
		return 1;
	if (one_in > RARELY)
		one_in = RARELY;
	return rec_random(t) % one_in ? 0 : one_in;
}
