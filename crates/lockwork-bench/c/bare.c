// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The least that a lock can cost: one compare-and-exchange and one store. What
 * uncontended pairs are measured against; no lock to use, because it gives a waiter
 * nothing but another try.
 */
#include <catalogue.h>

extern const struct lk_ops bench_bare_ops;
void bench_bare_pairs(void *word, u64 n);

static inline void bare_lock(u32 *word)
{
	u32 free = 0;

	while (!try_cmpxchg_acquire(word, &free, 1))
		free = 0;
}

static inline void bare_unlock(u32 *word)
{
	smp_store_release(word, 0);
}

void bench_bare_pairs(void *word, u64 n)
{
	for (; n; n--) {
		bare_lock(word);
		bare_unlock(word);
	}
}

static void init(void *word)
{
	*(u32 *)word = 0;
}

static void lock(void *word)
{
	bare_lock(word);
}

static void unlock(void *word)
{
	bare_unlock(word);
}

const struct lk_ops bench_bare_ops = {
	.name = "bare",
	.summary = "one compare-and-exchange and one store",
	.size = sizeof(u32),
	.align = _Alignof(u32),
	.init = init,
	.lock = lock,
	.unlock = unlock,
};
