// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "knobs.h"
#include "numa_pool.h"

/* All zero, and 276 KiB: in .bss, where __cacheline_aligned would not leave it. */
struct numa_entry lk_numa_pool[NUMA_ENTRIES] ____cacheline_aligned;

/* `taken` of an entry that this process, or kernel, has taken. */
static inline u32 taken_now(void)
{
	return 1u << 16 | wait_epoch();
}

/* As a fork left it, its queues may be open, and nobody will seal them. */
static __cold void forget(struct numa_entry *entry)
{
	u32 i;

	for (i = 0; i < NUMA_CLUSTERS; i++)
		WRITE_ONCE(entry->cluster[i].word, 0);
	WRITE_ONCE(entry->joining, 0);
}

/* Free, or of a lock whose process forked since: nobody will return it. */
static bool claim(struct numa_entry *entry, u32 mine)
{
	u32 taken = READ_ONCE(entry->taken);

	/* [numa_pool.A] ACQUIRE, pairs with numa_pool.B: the last owner is done
	 * with it. */
	if (taken == mine || !try_cmpxchg_acquire(&entry->taken, &taken, mine))
		return false;
	if (unlikely(taken))
		forget(entry);
	return true;
}

struct numa_entry *lk_numa_claim(struct lk_numa_osq *lock, u32 hint)
{
	u32 i, n = knob(osq_pool);
	u32 mine = taken_now();

	for (i = 0; i < n; i++) {
		struct numa_entry *entry = &lk_numa_pool[(hint + i) % n];

		if (claim(entry, mine)) {
			WRITE_ONCE(entry->owner, lock);
			return entry;
		}
	}
	return NULL;
}

void lk_numa_put(struct numa_entry *entry)
{
	WRITE_ONCE(entry->joining, 0);
	WRITE_ONCE(entry->owner, NULL);
	/* [numa_pool.B] RELEASE, pairs with numa_pool.A. */
	smp_store_release(&entry->taken, 0);
}

u32 lk_numa_osq_divided(void)
{
	u32 i, n = 0, mine = taken_now();

	for (i = 0; i < NUMA_ENTRIES; i++)
		n += READ_ONCE(lk_numa_pool[i].taken) == mine;
	return n;
}
