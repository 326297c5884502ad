// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "object.h"

DEFINE_PER_CPU(u32, lkm_waiters);

int lkm_object_init(struct lkm_object *object, const struct lk_ops *ops,
		    enum lkm_context context)
{
	*object = (struct lkm_object){ .context = context };
	/* Sizes that are powers of two are aligned so: it has its own lines. */
	object->lock =
		kzalloc(roundup_pow_of_two(max(ops->size, 128u)), GFP_KERNEL);
	if (!object->lock)
		return -ENOMEM;
	ops->init(object->lock);
	return 0;
}

void lkm_object_free(struct lkm_object *object)
{
	kfree(object->lock);
	object->lock = NULL;
}

/* Marsaglia, "Xorshift RNGs", Journal of Statistical Software 2003. */
u32 lkm_random(struct lkm_tally *tally)
{
	u32 x = tally->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	tally->random = x;
	return x;
}

void lkm_spend(struct lkm_tally *tally, u32 ns)
{
	if (!ns)
		return;
	ns = lkm_random(tally) % (2 * ns);
	if (ns >= 1000)
		udelay(ns / 1000);
	ndelay(ns % 1000);
}

/* The time inside. The holder of a lock that sleeps sometimes sleeps. */
static void stay_inside(struct lkm_tally *tally, const struct lk_ops *ops,
			u32 ns)
{
	if (ops->flags & LK_SLEEPS && lkm_random(tally) % 1024 == 0)
		schedule_timeout_uninterruptible(1);
	else
		lkm_spend(tally, ns);
}

/* -- contexts ------------------------------------------------------------ */

static unsigned long keep_away(const struct lkm_object *object,
			       const struct lk_ops *ops)
{
	unsigned long flags = 0;

	if (object->context == LKM_IN_HARDIRQ)
		local_irq_save(flags);
	else if (object->context == LKM_IN_SOFTIRQ)
		local_bh_disable();
	else if (!(ops->flags & LK_SLEEPS))
		preempt_disable();
	return flags;
}

static void let_in(const struct lkm_object *object, const struct lk_ops *ops,
		   unsigned long flags)
{
	if (object->context == LKM_IN_HARDIRQ)
		local_irq_restore(flags);
	else if (object->context == LKM_IN_SOFTIRQ)
		local_bh_enable();
	else if (!(ops->flags & LK_SLEEPS))
		preempt_enable();
}

/* -- in and out ---------------------------------------------------------- */

/* In one of the ways that the lock has; false: not held. */
static bool enter_alone(void *lock, const struct lk_ops *ops,
			struct lkm_tally *tally)
{
	u32 random = lkm_random(tally), way = random % 8;

	if (way == 0 && ops->trylock)
		return ops->trylock(lock);
	if (way == 1 && ops->timedlock)
		return ops->timedlock(lock, random >> 12); /* up to 1 ms */
	/* Its lock() would try again at once: here, a task that gave up must give
	 * way first. */
	if (ops->attempt)
		return ops->attempt(lock);
	ops->lock(lock);
	return true;
}

static bool enter_shared(void *lock, const struct lk_ops *ops,
			 struct lkm_tally *tally)
{
	u32 random = lkm_random(tally), way = random % 8;

	if (way == 0 && ops->read_trylock)
		return (ops->read_trylock)(lock);
	if (way == 1 && ops->read_timedlock)
		return ops->read_timedlock(lock, random >> 12);
	(ops->read_lock)(lock);
	return true;
}

static void work_alone(struct lkm_object *object, const struct lk_ops *ops,
		       struct lkm_tally *tally, u32 ns)
{
	bool alone = !object->writer && object->count[0] == object->count[1];

	object->writer = tally;
	object->count[0]++;
	barrier(); /* the data are looked at twice */
	stay_inside(tally, ops, ns);
	barrier();
	object->count[1]++;
	alone = alone && object->writer == tally &&
		object->count[0] == object->count[1];
	/* One failure does not make the next visits fail. */
	object->count[1] = object->count[0];
	object->writer = NULL;
	lkm_count(&tally->broken, !alone);
	lkm_count(&tally->writes[object->context], 1);
}

static void work_shared(struct lkm_object *object, const struct lk_ops *ops,
			struct lkm_tally *tally, u32 ns)
{
	u64 count = object->count[0];
	bool still = !object->writer && count == object->count[1];

	barrier(); /* the data are looked at twice */
	stay_inside(tally, ops, ns);
	barrier();
	still = still && !object->writer && count == object->count[0] &&
		count == object->count[1];
	lkm_count(&tally->broken, !still);
	lkm_count(&tally->reads, 1);
}

static bool enter(struct lkm_object *object, const struct lk_ops *ops,
		  struct lkm_tally *tally, bool read)
{
	bool counts = !(ops->flags & LK_SLEEPS), held;

	if (counts)
		this_cpu_inc(lkm_waiters);
	held = read ? enter_shared(object->lock, ops, tally)
		    : enter_alone(object->lock, ops, tally);
	if (counts)
		this_cpu_dec(lkm_waiters);
	return held;
}

void lkm_object_visit(struct lkm_object *object, const struct lk_ops *ops,
		      struct lkm_tally *tally, bool read, u32 hold_ns)
{
	unsigned long flags = keep_away(object, ops);
	u64 start = local_clock(), waited;
	bool held = enter(object, ops, tally, read);

	waited = local_clock() - start;
	if (!held) {
		lkm_count(&tally->missed, 1);
	} else if (read) {
		work_shared(object, ops, tally, hold_ns);
		(ops->read_unlock)(object->lock);
	} else {
		work_alone(object, ops, tally, hold_ns);
		if (ops->downgrade && lkm_random(tally) % 4 == 0) {
			ops->downgrade(object->lock);
			work_shared(object, ops, tally, hold_ns);
			(ops->read_unlock)(object->lock);
		} else {
			ops->unlock(object->lock);
		}
	}
	let_in(object, ops, flags);
	/* A sleeper may wake on a CPU whose clock is behind. */
	if ((s64)waited > (s64)tally->longest_ns)
		WRITE_ONCE(tally->longest_ns, waited);
}
