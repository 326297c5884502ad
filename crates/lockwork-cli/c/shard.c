// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "shard.h"

#include <errno.h>
#include <stdlib.h>

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

static void shard_insert(struct shard *s, uint64_t key, uint64_t hash,
			 uint64_t version)
{
	struct entry *e = entry_new(s);

	e->key = key;
	value_write(e, version);
	e->chain = s->bucket[hash & s->mask];
	s->bucket[hash & s->mask] = e;
	use_link(s, e);
}

void shard_op(struct shard *s, uint64_t key, uint64_t hash, bool read,
	      uint64_t version)
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

uint64_t shard_check(struct shard *s)
{
	uint64_t faults = s->faults;
	uint32_t listed = 0, chained = 0;

	for (struct entry *e = s->oldest; e && listed <= s->capacity;
	     e = e->newer) {
		faults += !value_good(e);
		faults += *find(s, e->key, mix(e->key) >> 8) != e;
		listed++;
	}
	for (uint32_t b = 0; b <= s->mask; b++)
		for (struct entry *e = s->bucket[b];
		     e && chained <= s->capacity; e = e->chain)
			chained++;
	return faults + (listed != s->used) + (chained != s->used);
}

int shard_init(struct shard *s, uint32_t capacity)
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
