/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_WAIT_RING_H
#define LK_WAIT_RING_H

/*
 * A FIFO of waiters, linked through their stacks: a ring, named by its first
 * link, so that one pointer finds both ends. NULL: nobody. The owner's lock
 * guards it; the first link alone may be read without, to see whether anybody
 * waits. So it is written with WRITE_ONCE, and read with lk_ring_first() in a
 * section too: a plain read may miss a WRITE_ONCE just before it (CONTRACT.md).
 */
#include <platform.h>

struct lk_ring {
	struct lk_ring *next, *prev;
};

static inline struct lk_ring *lk_ring_first(struct lk_ring *const *first)
{
	return READ_ONCE(*first);
}

static inline void lk_ring_append(struct lk_ring **first, struct lk_ring *link)
{
	struct lk_ring *head = lk_ring_first(first);

	if (!head) {
		link->next = link->prev = link;
		WRITE_ONCE(*first, link);
		return;
	}
	link->next = head;
	link->prev = head->prev;
	head->prev->next = link;
	head->prev = link;
}

static inline void lk_ring_remove(struct lk_ring **first, struct lk_ring *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	if (lk_ring_first(first) == link)
		WRITE_ONCE(*first, link->next == link ? NULL : link->next);
}

#endif
