// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The canaries' own table, shaped like the catalogue and apart from it. */
#include <catalogue.h>

#define LK_LOCK(ops) extern const struct lk_ops ops;
#include "canaries.def"
#undef LK_LOCK

extern const struct lk_ops *const lk_canaries[];

const struct lk_ops *const lk_canaries[] = {
#define LK_LOCK(ops) &ops,
#include "canaries.def"
#undef LK_LOCK
	NULL,
};
