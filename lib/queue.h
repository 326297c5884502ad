/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LWLIB_QUEUE_H
#define LWLIB_QUEUE_H

/*
 * In which queue the waiters of mutexes and sleeping read/write locks spin: one
 * answer for the process, decided before the first of them waits.
 */
#include "lib.h"

/* True: in a numa_osq. False: in an OSQ. */
bool lwlib_spin_in_numa_osq(void);

#endif
