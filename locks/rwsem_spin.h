/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_RWSEM_SPIN_H
#define LK_RWSEM_SPIN_H

/* How a thread waits for a rwsem before it sleeps; for the rwsem's own files. */
#include "rwsem.h"

/* In @queue, never NULL. True: it holds. False: it has to sleep. */
bool lk_rwsem_spin(struct lk_rwsem *s, struct lk_rwsem_want want,
		   const struct lk_spin_queue *queue);

#endif
