/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef CANARY_MCS_H
#define CANARY_MCS_H

/* A queue that works, if each waiter brings a node: what two canaries break. */
#include <catalogue.h>

struct node {
	struct node *next;
	u32 granted;
};

struct canary {
	struct node *tail;
	struct node *holder; /* only the holder reads and writes it */
};

static inline void init(void *lock)
{
	*(struct canary *)lock = (struct canary){ 0 };
}

/* True: the queue was empty, the caller holds the lock. */
static inline bool join(struct canary *canary, struct node *self)
{
	struct node *before;

	WRITE_ONCE(self->next, NULL);
	WRITE_ONCE(self->granted, 0);
	before = xchg(&canary->tail, self);
	if (!before)
		return true;
	smp_store_release(&before->next, self);
	return false;
}

static inline void leave(struct canary *canary, struct node *self)
{
	struct node *tail = self, *next;

	if (try_cmpxchg_release(&canary->tail, &tail, NULL))
		return;
	next = smp_cond_load_acquire(&self->next, VAL);
	smp_store_release(&next->granted, 1);
}

#endif
