// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What is found out once, and what is decided once. */
#include "frame.h"
#include "user/once.h"

static struct lkp_once once;
static u32 found, decided;
static bool first[CHECK_THREADS];

static void find_out(u32 id)
{
	EACH_ACQUISITION(if (!lkp_once_is_done(&once)) {
		if (lkp_once_begin(&once))
			first[id] = true;
		WRITE_ONCE(found, 7);
		lkp_once_done(&once);
	} CHECK(READ_ONCE(found) == 7, "what was found is not seen"));
}

static void is_first_once(void)
{
	u32 i, n = 0;

	for (i = 0; i < check_threads; i++)
		n += first[i];
	CHECK(n == 1, "not one thread is the first");
}

static void decide(u32 id)
{
	u32 now = lkp_decide(&decided, id + 1);

	EACH_ACQUISITION(CHECK(lkp_decide(&decided, id + 1) == now,
			       "it was decided twice"));
}

const struct check_client check_once[] = {
	{ "once", "found", "what was found is seen", 3, 1, 2, 600, 16, NULL,
	  find_out, is_first_once },
	{ "once", "decided", "one decision counts", 3, 2, 2, 600, 16, NULL,
	  decide, NULL },
	{ 0 },
};

const struct check_mutant mutants_once[] = {
	{ "two threads are the first", "lkp_once_begin", "try_cmpxchg_relaxed",
	  NULL, "split" },
	{ "a decision is not atomic", "lkp_decide", "try_cmpxchg_relaxed", NULL,
	  "split" },
	{ 0 },
};
