/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_PRELOAD_OWN_CODE_H
#define LK_PRELOAD_OWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Where this shared object begins and ends, by the linker. dladdr() searches all names of libc. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Whether @function is of this shared object. */
static inline bool is_own_code(const void *function)
{
	uintptr_t address = (uintptr_t)function;

	return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

#endif
