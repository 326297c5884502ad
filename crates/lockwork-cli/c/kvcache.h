/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef KVCACHE_H
#define KVCACHE_H

/*
 * The embedded workload: a sharded key-value cache under skewed load, written
 * as programs are, with pthread mutexes. src/workload.rs mirrors both structs.
 */
#include <stdint.h>

struct kv_config {
	uint32_t threads;
	uint32_t shards;
	uint32_t keys;	   /* keys 0 … keys-1, drawn by Zipf's law */
	uint32_t capacity; /* entries in all shards together */
	uint64_t ops;	   /* in all threads together */
	uint64_t seed;
	double read_ratio; /* 0 … 1 */
	double skew;	   /* Zipf's exponent; 0: every key alike */
};

struct kv_result {
	double seconds;
	uint64_t hits, misses, evictions;
	uint64_t waits;	      /* how many acquisitions were watched */
	uint64_t held;	      /* of them: the shard was locked at first */
	uint64_t max_wait_ns; /* the longest wait of those; 0: none waited */
	uint64_t least, most; /* operations of the slowest, fastest thread */
	double fairness;      /* Jain's index over the threads' operations */
	uint64_t faults;      /* failed checks: the locks did not exclude */
};

/* Runs the workload. Returns 0 or an errno value (ENOMEM, EAGAIN). */
int kvcache_run(const struct kv_config *config, struct kv_result *result);

#endif
