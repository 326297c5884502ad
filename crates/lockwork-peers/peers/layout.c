// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The mirror for C++ shims is the catalogue's struct, field by field: its
 * place, its type, and what the flags are worth. Compiled, never called.
 */
#include <catalogue.h>

enum { catalogue_rw = LK_RW, catalogue_sleeps = LK_SLEEPS };
#undef LK_RW
#undef LK_SLEEPS
#define lk_ops lk_ops_cxx
#include "lk_ops_cxx.h"
#undef lk_ops

_Static_assert(catalogue_rw == LK_RW, "LK_RW differs");
_Static_assert(catalogue_sleeps == LK_SLEEPS, "LK_SLEEPS differs");
_Static_assert(sizeof(struct lk_ops) == sizeof(struct lk_ops_cxx),
	       "a field is missing");

#define TYPE_IN(type, field) __typeof__(((struct type *)0)->field)
#define SAME(field)                                                       \
	_Static_assert(offsetof(struct lk_ops, field) ==                  \
			       offsetof(struct lk_ops_cxx, field),        \
		       #field " has another place");                      \
	_Static_assert(                                                   \
		__builtin_types_compatible_p(TYPE_IN(lk_ops, field),      \
					     TYPE_IN(lk_ops_cxx, field)), \
		#field " has another type")

SAME(name);
SAME(summary);
SAME(size);
SAME(align);
SAME(flags);
SAME(init);
SAME(lock);
SAME(unlock);
SAME(trylock);
SAME(timedlock);
SAME(attempt);
SAME(read_lock);
SAME(read_unlock);
SAME(read_trylock);
SAME(read_timedlock);
SAME(downgrade);
SAME(last_waiter);
