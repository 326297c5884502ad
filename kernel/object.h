/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKM_OBJECT_H
#define LKM_OBJECT_H

/*
 * An object: one lock under torture and the data that it guards. The data are plain, so that
 * a lock that lets two threads in is seen: by these checks, by the sum at the end,
 * and by KCSAN.
 */
#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "catalogue.h"

/* Who may take an object's lock, and so what its holders must keep away. */
enum lkm_context {
	LKM_IN_TASK,	/* tasks only: no preemption, if the lock spins */
	LKM_IN_SOFTIRQ, /* tasks and softirqs: no softirqs */
	LKM_IN_HARDIRQ, /* all: no interrupts */
	LKM_CONTEXTS
};

struct lkm_object {
	void *lock;
	enum lkm_context context;
	const void *writer; /* who is inside alone; NULL: nobody */
	u64 count[2];	    /* equal but for a writer that is inside */
} ____cacheline_aligned;

/* What one thread or handler has done. Only it writes here. */
struct lkm_tally {
	u64 writes[LKM_CONTEXTS];
	u64 reads;
	u64 missed; /* tries, timed and cancelled waits that failed */
	u64 broken; /* it was inside, and so was another */
	u64 longest_ns;
	u64 nested; /* visits of a handler that interrupted a waiter */
	u32 random; /* state of its generator, not 0 */
};

/* By whom the tally is; reports may look at it meanwhile. */
static inline void lkm_count(u64 *counter, u64 more)
{
	WRITE_ONCE(*counter, *counter + more);
}

/* How many visits on this CPU wait for a lock that spins: one a context at most. */
DECLARE_PER_CPU(u32, lkm_waiters);

/* 0 or -ENOMEM. */
int lkm_object_init(struct lkm_object *object, const struct lk_ops *ops,
		    enum lkm_context context);
void lkm_object_free(struct lkm_object *object);

/*
 * Once in and out: shared if @read, with about @hold_ns inside. The caller's context
 * is one that may take the lock of @object.
 */
void lkm_object_visit(struct lkm_object *object, const struct lk_ops *ops,
		      struct lkm_tally *tally, bool read, u32 hold_ns);

/* The next number of the tally's own generator. */
u32 lkm_random(struct lkm_tally *tally);
/* Keeps the CPU busy for a random time of mean @ns. */
void lkm_spend(struct lkm_tally *tally, u32 ns);

#endif
