/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_KICK_H
#define LK_KICK_H

/*
 * The node to kick for each lock: a lock word of 4 bytes has no room for
 * it. A hash table with one entry a bucket, an entry in one word:
 *
 *   0                      free
 *   rest << 16 | node      the head of a lock's queue may be halted
 *
 * A bucket and a rest are one lock. An address is a multiple of 4 below 2^57; bits above are
 * the same for all locks, or tags. So it is a number of 55 bits, and multiplied by an odd number,
 * modulo 2^55, it is another such number for each lock: 8 bits of it choose the bucket, and the
 * other 47 are the rest.
 *
 * A bucket that is taken for another lock is not waited for: then the waiter
 * does not halt. A thread that claims an entry wakes its node.
 *
 * Written from: no text. That a halted head is found by a hash of its lock is the way
 * of the kernel's paravirtual queued spinlock; the table and its steps are this file's
 * own.
 */
#include <platform.h>

#define LK_KICK_BITS 8

/* What of the 55 bits is in an entry. */
#define LK_KICK_REST_BITS (55 - LK_KICK_BITS)

struct lk_kick_table {
	u64 entry[1u << LK_KICK_BITS];
};

/* Fibonacci hashing: Knuth, TAOCP 3, 6.4. */
static inline u64 lk_kick_hash(const void *lock)
{
	u64 address = address_of(lock) >> 2;

	return address * 0x9e3779b97f4a7c15ull & ((1ull << 55) - 1);
}

static inline u64 *lk_kick_bucket(struct lk_kick_table *table, const void *lock)
{
	return &table->entry[lk_kick_hash(lock) >> LK_KICK_REST_BITS];
}

/* The entry for @lock without its node. */
static inline u64 lk_kick_rest(const void *lock)
{
	return (lk_kick_hash(lock) & ((1ull << LK_KICK_REST_BITS) - 1)) << 16;
}

static inline bool lk_kick_is_for(u64 entry, const void *lock)
{
	return (entry & ~0xffffull) == lk_kick_rest(lock);
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
	} while (!try_cmpxchg_release(bucket, &old, lk_kick_rest(lock) | node));
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
