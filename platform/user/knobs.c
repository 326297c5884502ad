// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "internal.h"
#include "user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LKP_KNOB(name, expert, min, max, dflt, words, help) \
	u32 lkp_##name = dflt;
#include "user_knobs.def"
#undef LKP_KNOB

#define LK_LIMIT(name, expert, min, max, user, kernel, check, help) \
	u32 lk_limit_##name = user;
#include <knobs.def>

const struct lk_knob lkp_user_knobs[] = {
#define LKP_KNOB(name, expert, min, max, dflt, words, help) \
	{ #name, help, words, min, max, dflt, expert, &lkp_##name },
#include "user_knobs.def"
#undef LKP_KNOB
#define LK_LIMIT(name, expert, min, max, user, kernel, check, help) \
	{ #name, help, NULL, min, max, user, expert, &lk_limit_##name },
#include <knobs.def>
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

int lkp_user_knob_set(const char *name, const char *value)
{
	const struct lk_knob *knob = find(lkp_user_knobs, name);
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
	if (knob->value == &lkp_clusters)
		lkp_clusters_changed();
	return 0;
}
