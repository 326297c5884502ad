/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef SHARD_H
#define SHARD_H

/*
 * A shard: a chained hash table with a list in order of use, under one mutex
 * that the caller takes. Each value carries a checksum over words written one
 * by one, and operations are counted with plain increments, so a lock that lets
 * two threads in at once is found out.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define WORDS 12 /* payload of a value, in 64-bit words */

struct entry {
	struct entry *chain; /* next in the bucket, or in the free list */
	struct entry *newer, *older; /* order of use */
	uint64_t key, version;
	uint64_t word[WORDS];
	uint64_t sum;
};

struct shard {
	pthread_mutex_t lock;
	struct entry **bucket;
	uint32_t mask;
	struct entry *entries, *free;
	struct entry *newest, *oldest;
	uint32_t used, capacity;
	uint64_t ops, hits, misses, evictions, faults;
} __attribute__((aligned(128)));

/* splitmix64: a step of the sequence, and a good hash of one number. */
static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

int shard_init(struct shard *s, uint32_t capacity); /* 0 or an errno value */
/* Reads @key, or writes it; a read that misses fetches it. */
void shard_op(struct shard *s, uint64_t key, uint64_t hash, bool read,
	      uint64_t version);
/* Walks everything; returns how many things are not as they should be. */
uint64_t shard_check(struct shard *s);

#endif
