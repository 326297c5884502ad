/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PEER_LK_OPS_CXX_H
#define PEER_LK_OPS_CXX_H

/*
 * What a C++ shim needs of locks/catalogue.h, whose <platform.h> is C only.
 * layout.c fails to compile where the two differ.
 */
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

#define LK_RW	  (1u << 1)
#define LK_SLEEPS (1u << 3)

struct lk_ops {
	const char *name;
	const char *summary;
	u32 size;
	u32 align;
	u32 flags;

	void (*init)(void *lock);
	void (*lock)(void *lock);
	void (*unlock)(void *lock);
	bool (*trylock)(void *lock);
	bool (*timedlock)(void *lock, u64 ns);
	bool (*attempt)(void *lock);
	void (*read_lock)(void *lock);
	void (*read_unlock)(void *lock);
	bool (*read_trylock)(void *lock);
	bool (*read_timedlock)(void *lock, u64 ns);
	void (*downgrade)(void *lock);
	u64 (*last_waiter)(const void *lock);
};

#endif
