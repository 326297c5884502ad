/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_PLATFORM_H
#define LKP_PLATFORM_H

/*
 * All that a lock may use: three headers, which the include path takes from one
 * world. A name that the kernel has means what it means there; thread.h and tuning.h of
 * the kernel's world say what the others do.
 */
#include <atomic.h> /* accesses, fences, read-modify-writes, by the kernel's names */
#include <thread.h> /* slots, epochs, where threads run, sleeping, time */
#include <tuning.h> /* limits, knobs, events */

#endif
