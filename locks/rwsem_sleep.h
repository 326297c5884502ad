/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_RWSEM_SLEEP_H
#define LK_RWSEM_SLEEP_H

/* How a thread sleeps until it holds a rwsem; for the rwsem's own files. */
#include "rwsem.h"

/* On the list, as @w: 0, or -ETIMEDOUT past @deadline (NULL: never). */
int lk_rwsem_sleep_as(struct lk_rwsem *s, struct lk_rwsem_waiter *w,
		      struct lk_rwsem_want want,
		      const struct lkp_deadline *deadline);

#endif
