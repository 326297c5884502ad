// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "catalogue.h"

const struct lk_ops *const lk_catalogue[] = {
#define LK_LOCK(ops) &ops,
#include "catalogue.def"
#undef LK_LOCK
	NULL,
};
