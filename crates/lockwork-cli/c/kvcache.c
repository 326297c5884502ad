// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A sharded key-value cache: each shard is a chained hash table with a list
 * in order of use, under one pthread mutex. Threads take batches of operations
 * from one pool, so that all of them work until the last batch and the shares
 * they got show how fair the locks were.
 *
 * Everything that a lock protects is checked: each value carries a checksum
 * over words written one by one, each shard counts its operations with plain
 * increments, and at the end every list is walked. A lock that lets two threads
 * in at once is found by one of these.
 */
#define _GNU_SOURCE
#include "kvcache.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORDS 12     /* payload of a value, in 64-bit words */
#define BATCH 64     /* operations taken from the pool at a time */
#define TIME_ONE_IN 32 /* waits timed; a power of two */

struct entry {
	struct entry *chain;	     /* next in the bucket, or in the free list */
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

/* Walker's alias table: draws from any distribution in constant time. */
struct zipf {
	uint32_t n;
	float *keep;
	uint32_t *other;
};

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
	uint64_t ops, waits, max_wait_ns;
	uint64_t finished_ns;
} __attribute__((aligned(128)));

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* splitmix64: a step of the sequence, and a good hash of one number. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return mix(*state);
}

/* --- the distribution of keys --------------------------------------------- */

static void zipf_fill(struct zipf *z, double *p, uint32_t *stack)
{
	uint32_t small = 0, large = z->n; /* two stacks, growing to each other */

	for (uint32_t i = 0; i < z->n; i++)
		stack[p[i] < 1.0 ? small++ : --large] = i;
	while (small > 0 && large < z->n) {
		uint32_t s = stack[--small], l = stack[large];

		z->keep[s] = (float)p[s];
		z->other[s] = l;
		p[l] -= 1.0 - p[s];
		if (p[l] < 1.0) {
			large++;
			stack[small++] = l;
		}
	}
	while (small > 0)
		z->keep[stack[--small]] = 1.0f;
	for (; large < z->n; large++)
		z->keep[stack[large]] = 1.0f;
}

static int zipf_init(struct zipf *z, uint32_t n, double skew)
{
	double *p = malloc(n * sizeof(*p)), total = 0;
	uint32_t *stack = malloc(n * sizeof(*stack));

	z->n = n;
	z->keep = malloc(n * sizeof(*z->keep));
	z->other = calloc(n, sizeof(*z->other));
	if (p && stack && z->keep && z->other) {
		for (uint32_t i = 0; i < n; i++)
			total += p[i] = pow(i + 1.0, -skew);
		for (uint32_t i = 0; i < n; i++)
			p[i] *= n / total;
		zipf_fill(z, p, stack);
		total = 0;
	}
	free(p);
	free(stack);
	return p && stack && z->keep && z->other ? 0 : ENOMEM;
}

static uint32_t zipf_draw(const struct zipf *z, uint64_t random)
{
	uint32_t i = (uint32_t)(((random >> 32) * z->n) >> 32);
	float toss = (float)(random & 0xffffff) / 16777216.0f;

	return toss < z->keep[i] ? i : z->other[i];
}

/* --- one shard, its lock held --------------------------------------------- */

static void value_write(struct entry *e, uint64_t version)
{
	uint64_t sum = 0;

	e->version = version;
	for (int i = 0; i < WORDS; i++) {
		e->word[i] = mix(e->key ^ (version + (uint64_t)i));
		sum += e->word[i];
	}
	e->sum = sum;
}

static bool value_good(const struct entry *e)
{
	uint64_t sum = 0;

	for (int i = 0; i < WORDS; i++)
		sum += e->word[i];
	return sum == e->sum && e->word[0] == mix(e->key ^ e->version);
}

static void use_unlink(struct shard *s, struct entry *e)
{
	*(e->newer ? &e->newer->older : &s->newest) = e->older;
	*(e->older ? &e->older->newer : &s->oldest) = e->newer;
}

static void use_link(struct shard *s, struct entry *e)
{
	e->newer = NULL;
	e->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = e;
	s->newest = e;
}

/* Where the pointer to @key's entry is, or would go. */
static struct entry **find(struct shard *s, uint64_t key, uint64_t hash)
{
	struct entry **at = &s->bucket[hash & s->mask];
	uint32_t steps = 0;

	while (*at && (*at)->key != key) {
		if (++steps > s->capacity) { /* a loop: the chain is broken */
			s->faults++;
			break;
		}
		at = &(*at)->chain;
	}
	return at;
}

static struct entry *entry_new(struct shard *s)
{
	struct entry *e = s->free;

	if (e) {
		s->free = e->chain;
		s->used++;
		return e;
	}
	e = s->oldest;
	use_unlink(s, e);
	*find(s, e->key, mix(e->key) >> 8) = e->chain;
	s->evictions++;
	return e;
}

static void shard_insert(struct shard *s, uint64_t key, uint64_t hash, uint64_t version)
{
	struct entry *e = entry_new(s);

	e->key = key;
	value_write(e, version);
	e->chain = s->bucket[hash & s->mask];
	s->bucket[hash & s->mask] = e;
	use_link(s, e);
}

static void shard_op(struct shard *s, uint64_t key, uint64_t hash, bool read, uint64_t version)
{
	struct entry *e = *find(s, key, hash);

	s->ops++;
	if (!e) {
		s->misses += read;
		shard_insert(s, key, hash, version);
		return;
	}
	use_unlink(s, e);
	use_link(s, e);
	s->faults += !value_good(e);
	if (read)
		s->hits++;
	else
		value_write(e, version);
}

/* Walks everything; returns how many things are not as they should be. */
static uint64_t shard_check(struct shard *s)
{
	uint64_t faults = s->faults;
	uint32_t listed = 0, chained = 0;

	for (struct entry *e = s->oldest; e && listed <= s->capacity; e = e->newer) {
		faults += !value_good(e);
		faults += *find(s, e->key, mix(e->key) >> 8) != e;
		listed++;
	}
	for (uint32_t b = 0; b <= s->mask; b++)
		for (struct entry *e = s->bucket[b]; e && chained <= s->capacity; e = e->chain)
			chained++;
	return faults + (listed != s->used) + (chained != s->used);
}

static int shard_init(struct shard *s, uint32_t capacity)
{
	uint32_t buckets = 1;

	while (buckets < capacity)
		buckets *= 2;
	s->mask = buckets - 1;
	s->capacity = capacity;
	s->bucket = calloc(buckets, sizeof(struct entry *));
	s->entries = calloc(capacity, sizeof(*s->entries));
	if (!s->bucket || !s->entries)
		return ENOMEM;
	for (uint32_t i = 0; i < capacity; i++) {
		s->entries[i].chain = s->free;
		s->free = &s->entries[i];
	}
	return pthread_mutex_init(&s->lock, NULL);
}

/* --- the threads ---------------------------------------------------------- */

static void shard_lock(struct worker *w, struct shard *s)
{
	uint64_t before, waited;

	if (w->ops & (TIME_ONE_IN - 1)) {
		pthread_mutex_lock(&s->lock);
		return;
	}
	before = now_ns();
	pthread_mutex_lock(&s->lock);
	waited = now_ns() - before;
	w->waits++;
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
	} while (take && !__atomic_compare_exchange_n(pool, &left, left - take, true,
						      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
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
static int start_and_join(struct cache *c, struct worker *workers, uint64_t *started_ns)
{
	uint32_t n = c->config.threads;
	int err = pthread_barrier_init(&c->start, NULL, n + 1);

	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++) {
		workers[i].cache = c;
		workers[i].random = mix(c->config.seed + i);
		err = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
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

int lw_kvcache_run(const struct kv_config *config, struct kv_result *result)
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
