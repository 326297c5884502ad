/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKM_LOCKS_H
#define LKM_LOCKS_H

/*
 * The locks that can be tortured: those of the catalogue, then the canaries of a
 * module that was built with them.
 */
#include "catalogue.h"

/* Locks that are broken on purpose, ended by NULL; in most modules there are none. */
extern const struct lk_ops *const lkm_canaries[];

u32 lkm_lock_count(void);
/* The lock numbered @i, from 0. */
const struct lk_ops *lkm_lock(u32 i);

#endif
