/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_WAIT_RING_H
#define LK_WAIT_RING_H

/*
 * A FIFO of waiters, linked through their stacks: a ring, named by its first
 * link, so that one pointer finds both ends. NULL: nobody. The owner's lock
 * guards it; `first` alone may be read without, to see whether anybody waits.
 */
#include <platform.h>

struct lk_ring {
	struct lk_ring *next, *prev;
};

static inline void lk_ring_append(struct lk_ring **first, struct lk_ring *link)
{
	struct lk_ring *head = *first;

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
	if (*first == link)
		WRITE_ONCE(*first, link->next == link ? NULL : link->next);
}

#endif
