/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_WAIT_RING_H
#define LK_WAIT_RING_H

/*
 * Waiters by priority, FIFO among equals, linked through their stacks: a ring, named
 * by its first link, so that one pointer finds both ends. NULL: nobody. The owner's lock
 * guards it; the first link alone may be read without, to see whether anybody
 * waits. So it is written with WRITE_ONCE, and read with lk_ring_first() in a
 * section too: a plain read may miss a WRITE_ONCE just before it (CONTRACT.md).
 */
#include <platform.h>

struct lk_ring {
	struct lk_ring *next, *prev;
	u32 priority; /* its thread's this_priority(), when it began to wait */
};

static inline struct lk_ring *lk_ring_first(struct lk_ring *const *first)
{
	return READ_ONCE(*first);
}

/* Behind all whose priority is not lower. */
static inline void lk_ring_insert(struct lk_ring **first, struct lk_ring *link)
{
	struct lk_ring *head = lk_ring_first(first), *next = head;

	if (!head) {
		link->next = link->prev = link;
		WRITE_ONCE(*first, link);
		return;
	}
	while (next->prev->priority < link->priority) {
		next = next->prev;
		if (next == head) {
			WRITE_ONCE(*first, link);
			break;
		}
	}
	link->next = next;
	link->prev = next->prev;
	next->prev->next = link;
	next->prev = link;
}

static inline void lk_ring_remove(struct lk_ring **first, struct lk_ring *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	if (lk_ring_first(first) == link)
		WRITE_ONCE(*first, link->next == link ? NULL : link->next);
}

#endif
