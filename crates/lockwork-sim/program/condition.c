// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "condition.h"
#include "cond.h"

static void enqueue(void *condition, void *waiter, void *lock, const void *ops)
{
	bool is_mutex = ops == &lk_mutex_ops || ops == &lk_mutex_numa_ops;

	lk_cond_enqueue(condition, waiter, is_mutex ? lock : NULL, false);
}

static void fall_asleep(void *waiter)
{
	(void)lk_cond_sleep(waiter, NULL);
}

static bool relock(void *waiter)
{
	return lk_cond_relock(waiter);
}

static void done(void *waiter)
{
	lk_cond_done(waiter);
}

static void notify(void *condition)
{
	lk_cond_signal(condition);
}

const struct lws_condition lws_condition = {
	.size = sizeof(struct lk_cond),
	.waiter_size = sizeof(struct lk_cond_waiter),
	.enqueue = enqueue,
	.sleep = fall_asleep,
	.relock = relock,
	.done = done,
	.signal = notify,
};
