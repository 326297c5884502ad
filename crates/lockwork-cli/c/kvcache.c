// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The threads of the cache. They take batches of operations from one pool, so
 * that all of them work until the last batch, and the shares that they got show
 * how fair the locks were.
 */
#define _GNU_SOURCE
#include "kvcache.h"
#include "shard.h"
#include "zipf.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH	    64 /* operations taken from the pool at a time */
#define TIME_ONE_IN 32 /* acquisitions watched; a power of two */

struct cache {
	struct kv_config config;
	struct zipf zipf;
	struct shard *shards;
	uint64_t pool; /* operations not taken yet */
	pthread_barrier_t start;
};

struct worker {
	pthread_t thread;
	struct cache *cache;
	uint64_t random;
	uint64_t ops, waits, held, max_wait_ns;
	uint64_t finished_ns;
} __attribute__((aligned(128)));

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A step of the sequence that mix() makes. */
static uint64_t next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return mix(*state);
}

/* Of some acquisitions it is seen whether the lock is held: by a trylock, which
 * the others go without. Only a wait for a held lock is timed: a thread that
 * loses its CPU in a trylock that gets the lock did not wait. */
static void shard_lock(struct worker *w, struct shard *s)
{
	uint64_t before, waited;

	if (w->ops & (TIME_ONE_IN - 1)) {
		pthread_mutex_lock(&s->lock);
		return;
	}
	w->waits++;
	if (!pthread_mutex_trylock(&s->lock))
		return;
	w->held++;
	before = now_ns();
	pthread_mutex_lock(&s->lock);
	waited = now_ns() - before;
	if (waited > w->max_wait_ns)
		w->max_wait_ns = waited;
}

static void one_op(struct worker *w)
{
	struct cache *c = w->cache;
	uint64_t key = zipf_draw(&c->zipf, next_random(&w->random));
	uint64_t random = next_random(&w->random), hash = mix(key);
	struct shard *s = &c->shards[(hash >> 40) % c->config.shards];
	bool read = (double)(random >> 11) * 0x1p-53 < c->config.read_ratio;

	shard_lock(w, s);
	shard_op(s, key, hash >> 8, read, random);
	pthread_mutex_unlock(&s->lock);
	w->ops++;
}

/* Takes a batch from the pool; 0 once the pool is empty. */
static uint64_t take_batch(uint64_t *pool)
{
	uint64_t left = __atomic_load_n(pool, __ATOMIC_RELAXED), take;

	do {
		take = left < BATCH ? left : BATCH;
	} while (take && !__atomic_compare_exchange_n(pool, &left, left - take,
						      true, __ATOMIC_RELAXED,
						      __ATOMIC_RELAXED));
	return take;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t batch;

	pthread_barrier_wait(&w->cache->start);
	while ((batch = take_batch(&w->cache->pool)) != 0)
		while (batch--)
			one_op(w);
	w->finished_ns = now_ns();
	return NULL;
}

/* A thread that cannot be started ends the program: others wait at the barrier. */
static int start_and_join(struct cache *c, struct worker *workers,
			  uint64_t *started_ns)
{
	uint32_t n = c->config.threads;
	int err = pthread_barrier_init(&c->start, NULL, n + 1);

	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++) {
		workers[i].cache = c;
		workers[i].random = mix(c->config.seed + i);
		err = pthread_create(&workers[i].thread, NULL, work,
				     &workers[i]);
		if (err)
			return err;
	}
	*started_ns = now_ns();
	pthread_barrier_wait(&c->start);
	for (uint32_t i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_barrier_destroy(&c->start);
	return 0;
}

static void sum_workers(const struct worker *w, uint32_t n, uint64_t started_ns,
			struct kv_result *r)
{
	double sum = 0, squares = 0;
	uint64_t end = started_ns;

	r->least = w[0].ops;
	for (uint32_t i = 0; i < n; i++, w++) {
		sum += (double)w->ops;
		squares += (double)w->ops * (double)w->ops;
		r->waits += w->waits;
		r->held += w->held;
		r->least = w->ops < r->least ? w->ops : r->least;
		r->most = w->ops > r->most ? w->ops : r->most;
		if (w->max_wait_ns > r->max_wait_ns)
			r->max_wait_ns = w->max_wait_ns;
		end = w->finished_ns > end ? w->finished_ns : end;
	}
	r->seconds = (double)(end - started_ns) * 1e-9;
	r->fairness = squares > 0 ? sum * sum / (n * squares) : 1.0;
}

static void sum_shards(struct cache *c, struct kv_result *r)
{
	uint64_t ops = 0;

	for (uint32_t i = 0; i < c->config.shards; i++) {
		struct shard *s = &c->shards[i];

		ops += s->ops;
		r->hits += s->hits;
		r->misses += s->misses;
		r->evictions += s->evictions;
		r->faults += shard_check(s);
	}
	r->faults += ops != c->config.ops; /* a lost update */
}

static int cache_init(struct cache *c, const struct kv_config *config)
{
	uint32_t each = config->capacity / config->shards;
	int err;

	c->config = *config;
	c->pool = config->ops;
	c->shards = aligned_alloc(128, config->shards * sizeof(*c->shards));
	if (!c->shards)
		return ENOMEM;
	memset(c->shards, 0, config->shards * sizeof(*c->shards));
	err = zipf_init(&c->zipf, config->keys, config->skew);
	for (uint32_t i = 0; !err && i < config->shards; i++)
		err = shard_init(&c->shards[i], each ? each : 1);
	return err;
}

static void cache_free(struct cache *c)
{
	for (uint32_t i = 0; c->shards && i < c->config.shards; i++) {
		pthread_mutex_destroy(&c->shards[i].lock);
		free(c->shards[i].bucket);
		free(c->shards[i].entries);
	}
	free(c->shards);
	free(c->zipf.keep);
	free(c->zipf.other);
}

int kvcache_run(const struct kv_config *config, struct kv_result *result)
{
	size_t size = config->threads * sizeof(struct worker);
	struct worker *workers = aligned_alloc(128, size);
	struct cache cache = { 0 };
	uint64_t started_ns = 0;
	int err;

	memset(result, 0, sizeof(*result));
	if (!workers)
		return ENOMEM;
	memset(workers, 0, size);
	err = cache_init(&cache, config);
	if (!err)
		err = start_and_join(&cache, workers, &started_ns);
	if (err)
		return err; /* threads may still wait; the caller exits */
	sum_workers(workers, config->threads, started_ns, result);
	sum_shards(&cache, result);
	cache_free(&cache);
	free(workers);
	return 0;
}
