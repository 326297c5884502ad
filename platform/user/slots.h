/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_SLOTS_H
#define LKP_SLOTS_H

/*
 * The table of slots, without system calls: the model checker runs this as well.
 * slots.c says when threads take a slot and when they give it back.
 *
 * Written from: no text.
 */
#include <platform.h>

struct lkp_slots {
	u32 hint; /* no slot below it is known to be free */
	atomic_t used;
	u32 tid[LKP_MAX_SLOTS + 1]; /* of each slot's thread; 0: free */
};

#define LKP_SLOTS_INIT    \
	{                 \
		.hint = 1 \
	}

/* A free slot, up to @limit, for the thread @tid; 0: none was found. */
static inline u32 lkp_slots_take(struct lkp_slots *s, u32 tid, u32 limit)
{
	u32 slot = READ_ONCE(s->hint), none;

	for (; slot <= limit; slot++) {
		none = 0;
		/* [slots.B] ACQUIRE, pairs with slots.A and .C: the nodes are
		 * ours. */
		if (!READ_ONCE(s->tid[slot]) &&
		    try_cmpxchg_acquire(&s->tid[slot], &none, tid)) {
			WRITE_ONCE(s->hint, slot + 1);
			atomic_add(1, &s->used);
			return slot;
		}
	}
	return 0;
}

static inline void lkp_slots_put(struct lkp_slots *s, u32 slot)
{
	atomic_sub(1, &s->used);
	/* [slots.A] RELEASE, pairs with slots.B: we are done with the nodes. */
	smp_store_release(&s->tid[slot], 0);
	if (slot < READ_ONCE(s->hint))
		WRITE_ONCE(s->hint, slot);
}

/* No thread has this id, so the slot is free in the child of a fork only. */
#define LKP_NO_THREAD (~0u)

/* The thread ends and its nodes may still be used: the slot stays taken. */
static inline void lkp_slots_keep(struct lkp_slots *s, u32 slot)
{
	WRITE_ONCE(s->tid[slot], LKP_NO_THREAD);
}

/* Frees @slot, if it is still that of the thread @tid, which has ended. */
static inline void lkp_slots_reclaim(struct lkp_slots *s, u32 slot, u32 tid)
{
	/* [slots.C] RELEASE, pairs with slots.B: that thread is done with the nodes.
	 * We know it has ended, the next owner only knows us. */
	if (try_cmpxchg_release(&s->tid[slot], &tid, 0))
		atomic_sub(1, &s->used);
}

/* All slots up to @last become free: their threads are the parent's. */
static inline void lkp_slots_forget(struct lkp_slots *s, u32 last)
{
	for (u32 slot = 1; slot <= last; slot++) {
		/* A store would copy a page of the parent's. */
		if (READ_ONCE(s->tid[slot]))
			WRITE_ONCE(s->tid[slot], 0);
	}
	atomic_set(&s->used, 0);
	WRITE_ONCE(s->hint, 1);
}

/*
 * The key whose destructor gives slots back. Its word has 0: not made yet; LKP_NO_KEY:
 * none can be used; else the key plus LKP_FIRST_KEY.
 */
#define LKP_NO_KEY    1u
#define LKP_FIRST_KEY 2u

static inline u32 lkp_slots_key(const u32 *word)
{
	/* [slots.E] ACQUIRE, pairs with slots.D: the key is made for us, too. */
	return smp_load_acquire(word);
}

/* What a thread says whose key cannot be used. A later one may be better. */
static inline void lkp_slots_no_key(u32 *word)
{
	u32 seen = 0;

	/* Orders nothing: there is no key to see. */
	(void)try_cmpxchg_relaxed(word, &seen, LKP_NO_KEY);
}

/* From here on none can be used, and none is made. Returns what the word had. */
static inline u32 lkp_slots_drop_key(u32 *word)
{
	u32 key = lkp_slots_key(word);

	WRITE_ONCE(*word, LKP_NO_KEY);
	return key;
}

/* Several threads may make a key, and the first is kept. Returns what the word has. */
static inline u32 lkp_slots_keep_key(u32 *word, u32 key)
{
	u32 seen = 0;

	while (seen < LKP_FIRST_KEY) {
		/* [slots.D] RELEASE, pairs with slots.E: the key is made. */
		if (try_cmpxchg_release(word, &seen, key + LKP_FIRST_KEY))
			return key + LKP_FIRST_KEY;
	}
	return lkp_slots_key(word);
}

#endif
