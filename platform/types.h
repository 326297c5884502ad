/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_TYPES_H
#define LKP_TYPES_H

/*
 * The kernel's types and small macros, for the worlds that do not have its headers.
 * Included by their atomic.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/* An int, as in the kernel; locks keep bits in it, so a u32 is compared too. */
typedef struct {
	int counter;
} atomic_t;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte layouts");
_Static_assert(__SIZEOF_POINTER__ == 8, "Lockwork needs a 64-bit target");

#define ATOMIC_INIT(i) \
	{              \
		(i)    \
	}
#define likely(x)	    __builtin_expect(!!(x), 1)
#define unlikely(x)	    __builtin_expect(!!(x), 0)
#define __cold		    __attribute__((cold, noinline))
#define __cacheline_aligned __attribute__((aligned(64)))
#define __read_mostly
#define __lockfunc
/* In the kernel it also puts the object into a section of .data; this one does not. */
#define ____cacheline_aligned __cacheline_aligned
#define barrier()	      __asm__ __volatile__("" ::: "memory")
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr)-offsetof(type, member)))

#endif
