// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Published locks: something to compare with, and nothing to use. So they are in no
 * catalogue. Those of rivals.def are right; the others have known faults.
 */
#include "catalogue.h"

#define LK_LOCK(ops) extern const struct lk_ops ops;
#include "baselines.def"
#undef LK_LOCK

extern const struct lk_ops *const lk_baselines[];

/* All of them, ended by NULL. */
const struct lk_ops *const lk_baselines[] = {
#define LK_LOCK(ops) &ops,
#include "baselines.def"
#undef LK_LOCK
	NULL,
};
