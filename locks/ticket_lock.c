// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* ticket_lock.h has states, invariants and sources. */
#include "catalogue.h"
#include "ticket_lock.h"

static void init(void *lock)
{
	*(struct lk_ticket *)lock = (struct lk_ticket)LK_TICKET_INIT;
}

static void lock(void *lock)
{
	lk_ticket_lock(lock);
}

static bool trylock(void *lock)
{
	return lk_ticket_trylock(lock);
}

static void unlock(void *lock)
{
	lk_ticket_unlock(lock);
}

/* The ticket to be drawn next, and a bit so that it is never 0. */
static u64 last_waiter(const void *lock)
{
	u32 val = atomic_read(&((const struct lk_ticket *)lock)->val);
	u16 next = val >> LK_TICKET_SHIFT, queued = next - (u16)val;

	return queued > 1 ? LK_TICKET_ONE | next : 0;
}

const struct lk_ops lk_ticket_ops = {
	.name = "ticket_lock",
	.summary = "ticket lock: FIFO; all waiters spin on one word",
	.size = sizeof(struct lk_ticket),
	.align = _Alignof(struct lk_ticket),
	.flags = LK_FIFO,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
	.last_waiter = last_waiter,
};
