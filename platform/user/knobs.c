// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "internal.h"
#include "user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KNOB(knob, lo, hi, init, text)                             \
	{                                                          \
		.name = #knob, .help = text, .min = lo, .max = hi, \
		.dflt = init, .value = &lw_##knob                  \
	}

/* The variables' definitions in wait.c repeat the defaults. */
const struct lk_knob lw_user_knobs[] = {
	KNOB(spin_budget, 0, 1000000, 1000,
	     "rounds that a thread spins for a mutex before it sleeps; 0: it "
	     "does not spin"),
	KNOB(brief_spins, 0, 1000000, 30,
	     "times that a thread checks a mutex (or a spinlock in mode "
	     "steal), 4 to 32 pauses apart, before it queues"),
	KNOB(overtake_limit, 1, 1000000, 64,
	     "unlocks that may leave the first sleeper waiting before one "
	     "hands it the mutex"),
	KNOB(handover_spins, 0, 10000, 20,
	     "rounds that an unlock waits for a spinning thread to take the "
	     "mutex before it wakes a sleeper"),
	KNOB(yield_after, 1, 1000000, 200,
	     "rounds that a queued waiter spins before it yields its CPU"),
	KNOB(steal_rounds, 0, 1000000, 30,
	     "times that a thread checks a spinlock in mode pv, 4 to 32 "
	     "pauses apart, before it queues"),
	KNOB(auto_cpus, 0, 1000000, 0,
	     "number of CPUs with which a spinlock in mode auto compares the "
	     "number of threads; 0: the CPUs that the process may use"),
	KNOB(watch_owner, 0, 1, 1,
	     "1: a thread stops spinning if the thread that it waits for is "
	     "known to be off its CPU; 0: it does not check"),
	KNOB(give_way_us, 0, 1000000, 1000,
	     "microseconds that a sleeper must have waited for its waker to "
	     "yield the CPU to it"),
	{ .name = "clusters",
	  .help = "what the CPUs of a cluster share: their last-level cache, "
		  "their NUMA node, or nothing",
	  .words = "llc,node,cpu",
	  .max = 2,
	  .value = &lw_clusters },
	KNOB(count_events, 0, 2, 0,
	     "1: locks count events in their slow paths; 2: the sums are also "
	     "printed to standard error when the process ends"),
	{ .name = NULL },
};

/* Index of @value among the comma-separated @words, or -1. */
static long word_index(const char *words, const char *value)
{
	size_t len = strlen(value);

	for (long i = 0; words; i++) {
		const char *comma = strchr(words, ',');
		size_t n = comma ? (size_t)(comma - words) : strlen(words);

		if (n == len && !memcmp(words, value, n))
			return i;
		words = comma ? comma + 1 : NULL;
	}
	return -1;
}

static long parse(const struct lk_knob *knob, const char *value)
{
	unsigned long n = 0;

	if (knob->words)
		return word_index(knob->words, value);
	if (!*value)
		return -1;
	for (; *value; value++) {
		if (*value < '0' || *value > '9' || n > UINT32_MAX)
			return -1;
		n = n * 10 + (unsigned long)(*value - '0');
	}
	return n >= knob->min && n <= knob->max ? (long)n : -1;
}

/* The knob called @name, or NULL. */
static const struct lk_knob *find(const struct lk_knob *knob, const char *name)
{
	for (; knob->name; knob++) {
		if (!strcmp(knob->name, name))
			return knob;
	}
	return NULL;
}

int lw_user_knob_set(const char *name, const char *value)
{
	const struct lk_knob *knob = find(lw_user_knobs, name);
	long n;

	if (!knob)
		knob = find(lk_knobs, name);
	if (!knob)
		return -ENOENT;
	n = parse(knob, value);
	if (n < 0)
		return -ERANGE;
	if (READ_ONCE(*knob->value) == (u32)n)
		return 0;
	WRITE_ONCE(*knob->value, (u32)n);
	if (knob->value == &lw_clusters)
		lw_clusters_changed();
	return 0;
}
