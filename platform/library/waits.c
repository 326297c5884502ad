// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* waits.h says what these are for. */
#include "waits.h"

static struct lkp_wait waits[LKP_WAITS];
/* The thread of an entry that somebody is about to use. */
#define CLAIMED (~0ull)
/* No entry from here on has been used. */
static u32 waits_end;

/* As in an entry. Threads of an earlier fork epoch are gone. */
static u64 key_of(u32 tid)
{
	return (u64)wait_epoch() << 32 | tid;
}

u32 lkp_wait_count(void)
{
	return READ_ONCE(waits_end);
}

struct lkp_wait *lkp_wait_find(u32 tid)
{
	u64 key = key_of(tid);
	u32 i, end = lkp_wait_count();

	for (i = 0; i < end; i++)
		/* [waits.B] ACQUIRE, pairs with waits.A: what the entry tells is
		 * the thread's own. */
		if (smp_load_acquire(&waits[i].thread) == key)
			return &waits[i];
	return NULL;
}

static void raise_end(u32 end)
{
	u32 seen = READ_ONCE(waits_end);

	while (seen < end && !try_cmpxchg_relaxed(&waits_end, &seen, end))
		;
}

struct lkp_wait *lkp_wait_claim(u32 tid)
{
	u64 key = key_of(tid), seen;
	u32 i;

	for (i = 0; i < LKP_WAITS; i++) {
		seen = READ_ONCE(waits[i].thread);
		/* Free, or of a thread that a fork has left behind.
		 * [waits.D] ACQUIRE, pairs with waits.C: we write after that
		 * thread. */
		if (seen == CLAIMED || (seen && seen >> 32 == key >> 32) ||
		    !try_cmpxchg_acquire(&waits[i].thread, &seen, CLAIMED))
			continue;
		WRITE_ONCE(waits[i].object, NULL);
		/* [waits.A] RELEASE, pairs with waits.B. */
		smp_store_release(&waits[i].thread, key);
		raise_end(i + 1);
		return &waits[i];
	}
	return NULL;
}

/*
 * The turn is odd while the entry changes. It never goes back, also if a handler that
 * waits interrupts this.
 */
void lkp_wait_set(struct lkp_wait *own, const void *object, const void *site)
{
	WRITE_ONCE(own->turn, READ_ONCE(own->turn) | 1);
	/* [waits.E] WMB, pairs with waits.G: who sees the new object sees the turn
	 * odd, or a later one. */
	smp_wmb();
	WRITE_ONCE(own->site, site);
	WRITE_ONCE(own->object, object);
	/* [waits.F] RELEASE, pairs with waits.G. */
	smp_store_release(&own->turn, (READ_ONCE(own->turn) | 1) + 1);
	/* [waits.C] MB, pairs with itself and waits.D: either we see the others'
	 * entries, or they see ours. */
	smp_mb();
}

void lkp_wait_release(struct lkp_wait *own)
{
	/* Orders nothing: waits.C has, after all that was written to the entry. */
	WRITE_ONCE(own->thread, 0);
}

const void *lkp_wait_read(const struct lkp_wait *at, u64 *which)
{
	/* [waits.G] ACQUIRE, pairs with waits.E and .F: the object is of this turn. */
	u32 turn = smp_load_acquire(&at->turn);
	/* [waits.G] */
	const void *object = smp_load_acquire(&at->object);

	if (turn & 1 || READ_ONCE(at->turn) != turn)
		return NULL;
	*which = (u64)(at - waits) << 32 | turn;
	return object;
}

/* -- where an object was taken -------------------------------------------- */

#define SITES 4096u /* a power of two */

/* The last of those objects that share the entry. */
static struct {
	const void *object;
	const void *site;
} sites[SITES];

/* An entry that somebody is writing. */
#define BUSY ((const void *)1)

static u32 site_index(const void *object)
{
	return (u32)((u64)(uintptr_t)object * 0x9e3779b97f4a7c15ull >> 32) %
	       SITES;
}

/* While another one writes the entry, it stays that one's. */
void lkp_site_note(const void *object, const void *site)
{
	u32 i = site_index(object);
	const void *seen = READ_ONCE(sites[i].object);

	/* [waits.K] ACQUIRE, pairs with waits.I: our place comes after that one's. */
	if (seen == BUSY || !try_cmpxchg_acquire(&sites[i].object, &seen, BUSY))
		return;
	/* [waits.H] WMB, pairs with waits.J: who sees our place sees that the object
	 * changes. */
	smp_wmb();
	WRITE_ONCE(sites[i].site, site);
	/* [waits.I] RELEASE, pairs with waits.J and .K. */
	smp_store_release(&sites[i].object, object);
}

const void *lkp_site_of(const void *object)
{
	u32 i = site_index(object);
	const void *site;

	/* [waits.J] ACQUIRE, pairs with waits.H and .I: the place is this object's. */
	if (smp_load_acquire(&sites[i].object) != object)
		return NULL;
	/* [waits.J] */
	site = smp_load_acquire(&sites[i].site);
	return READ_ONCE(sites[i].object) == object ? site : NULL;
}
