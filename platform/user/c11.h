/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_C11_H
#define LKP_C11_H

/* C11's threads in terms of pthread: what the interposer and the recorder share. */
#include <errno.h>
#include <stdbool.h>
#include <threads.h>

/* glibc takes all other types, also unknown ones, for plain. */
static inline bool lkp_mtx_is_recursive(int type)
{
	return type == mtx_recursive || type == (mtx_recursive | mtx_timed);
}

/* The errors of C11's threads for those of pthread. */
static inline int lkp_thrd_result(int err)
{
	switch (err) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	default:
		return thrd_error;
	}
}

#endif
