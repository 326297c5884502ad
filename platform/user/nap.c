// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Sleeps that end by themselves: for those whom foreign code does not wake, and those
 * behind a thread that is stopped.
 */
#include <platform.h>

/*
 * The first nap, and how often it doubles at most: 32 ms to 1 s. Shorter ones show where
 * hundreds of threads sleep.
 */
#define NAP_NS	    32000000ull
#define NAP_DOUBLES 5u

__cold int lkp_futex_nap(u32 *word, u32 val,
			 const struct lkp_deadline *deadline, u32 naps)
{
	u64 ns = NAP_NS << (naps < NAP_DOUBLES ? naps : NAP_DOUBLES);
	struct lkp_deadline nap;

	lkp_self.goes_on = naps && naps != NO_NAPS;
	if (naps == NO_NAPS || !sleeps_are_naps() ||
	    (deadline && deadline_within(deadline, ns)))
		return lkp_futex_wait(word, val, deadline);
	deadline_after(&nap, ns);
	lkp_futex_wait(word, val, &nap);
	return 0;
}
