// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Which waits are watched. What is done for such a wait delays the sleep, makes each holder note
 * what it does, and holds the lock longer. Where threads wait often, that makes more of them wait.
 */
#include "calls.h"

/*
 * The first waits of a site are all watched, and those under a thread number. Then one in 2, in 3
 * and so on is, for so many waits each, and at last one in 256.
 */
#define FIRST_OF_SITE	8
#define FIRST_OF_THREAD 64
#define FOR_EACH	32
#define RARELY		256

u32 rec_stands_for(struct rec_thread *t, const struct rec_detail *d)
{
	u32 one_in = t->waits++ / FOR_EACH;

	if (!d)
		return 0;
	if (d->contended < FIRST_OF_SITE || one_in < FIRST_OF_THREAD / FOR_EACH)
		return 1;
	if (one_in > RARELY)
		one_in = RARELY;
	return rec_random(t) % one_in ? 0 : one_in;
}
