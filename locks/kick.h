/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_KICK_H
#define LK_KICK_H

/*
 * The node to kick for each lock: a lock word of 4 bytes has no room for
 * it. A hash table with one entry a bucket, an entry in one word:
 *
 *   0                       free
 *   lock << 16 | node       the head of @lock's queue may be halted
 *
 * A bucket that is taken for another lock is not waited for: then the waiter
 * does not halt. A thread that claims an entry wakes its node, so an entry that is
 * claimed wrongly (locks whose addresses agree in their low 48 bits) costs a
 * needless wake-up, no more.
 *
 * Written from: no text. That a halted head is found by a hash of its lock is the way
 * of the kernel's paravirtual queued spinlock; the table and its steps are this file's
 * own.
 */
#include <platform.h>

#define LK_KICK_BITS 8

struct lk_kick_table {
	u64 entry[1u << LK_KICK_BITS];
};

static inline u64 *lk_kick_bucket(struct lk_kick_table *table, const void *lock)
{
	/* Fibonacci hashing: Knuth, TAOCP 3, 6.4. */
	u64 hash = (u64)(uintptr_t)lock * 0x9e3779b97f4a7c15ull;

	return &table->entry[hash >> (64 - LK_KICK_BITS)];
}

static inline bool lk_kick_is_for(u64 entry, const void *lock)
{
	return !((entry ^ (u64)(uintptr_t)lock << 16) >> 16);
}

/* Enters @node for @lock, also over an entry of its own; false: no room. */
static inline bool lk_kick_post(struct lk_kick_table *table, const void *lock,
				u16 node)
{
	u64 *bucket = lk_kick_bucket(table, lock), old = READ_ONCE(*bucket);

	do {
		if (old && !lk_kick_is_for(old, lock))
			return false;
		/* [kick.A] RELEASE, pairs with kick.B: the node is seen as it
		 * was when it was posted. An RMW also where the entry is there
		 * already: it may be claimed by now. */
	} while (!try_cmpxchg_release(bucket, &old,
				      (u64)(uintptr_t)lock << 16 | node));
	return true;
}

/* Takes the entry for @lock: its node, or 0. */
static inline u16 lk_kick_claim(struct lk_kick_table *table, const void *lock)
{
	u64 *bucket = lk_kick_bucket(table, lock), entry = READ_ONCE(*bucket);

	while (entry && lk_kick_is_for(entry, lock)) {
		/* [kick.B] ACQUIRE, pairs with kick.A. */
		if (try_cmpxchg_acquire(bucket, &entry, 0))
			return (u16)entry;
	}
	return 0;
}

#endif
