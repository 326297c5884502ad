// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Only in a module that is built with LKM_CANARIES=y; see tests/canaries. */
#include "locks.h"

extern const struct lk_ops canary_exclusion_ops, canary_nesting_ops,
	canary_reader_ops;

const struct lk_ops *const lkm_canaries[] = {
	&canary_exclusion_ops,
	&canary_nesting_ops,
	&canary_reader_ops,
	NULL,
};
