/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_TICKET_LOCK_H
#define LK_TICKET_LOCK_H

/*
 * Ticket lock: 4 bytes, FIFO, all waiters watch one word.
 *
 *   bits 0-15   owner: the ticket that is served
 *   bits 16-31  next: the ticket that the next arrival draws
 *
 *   (o,o) --lock--> (o,o+1) --unlock--> (o+1,o+1)
 *   (o,n) --lock--> (o,n+1)      drew n: waits until owner == n
 *   (o,n) --unlock--> (o+1,n)    the thread that drew o+1 holds
 *
 * Invariants: next - owner (mod 65536) is the number of threads that hold or
 * wait; each of them has drawn a different ticket; only the holder writes owner.
 *
 * Limit: at most 65,535 threads hold or wait at once. One more would find the
 * halves equal, and the lock free.
 *
 * Source: "ticket locks" in Mellor-Crummey & Scott, TOCS 1991, after Reed &
 * Kanodia, CACM 1979. It is the fair lock that the kernel had before qspinlock.
 */
#include <platform.h>

#define LK_TICKET_SHIFT 16
#define LK_TICKET_ONE	(1u << LK_TICKET_SHIFT) /* one ticket drawn */

struct lk_ticket {
	union {
		atomic_t val;
		struct {
			u16 owner;
			u16 next;
		};
	};
};

/* clang-format off */
#define LK_TICKET_INIT { { ATOMIC_INIT(0) } }
/* clang-format on */

static inline bool lk_ticket_trylock(struct lk_ticket *lock)
{
	u32 val = atomic_read(&lock->val);

	/* [ticket.A] ACQUIRE, pairs with ticket.C: see the last holder's writes. */
	return (u16)val == val >> LK_TICKET_SHIFT &&
	       atomic_try_cmpxchg_acquire(&lock->val, &val,
					  val + LK_TICKET_ONE);
}

static inline void lk_ticket_lock(struct lk_ticket *lock)
{
	/* [ticket.A]; a carry out of next leaves the word. */
	u32 val = atomic_fetch_add_acquire(LK_TICKET_ONE, &lock->val);
	u16 ticket = val >> LK_TICKET_SHIFT;

	/* [ticket.B] ACQUIRE, pairs with ticket.C: the same. */
	if (unlikely((u16)val != ticket))
		smp_cond_load_acquire(&lock->owner, VAL == ticket);
}

static inline void lk_ticket_unlock(struct lk_ticket *lock)
{
	u16 served = READ_ONCE(lock->owner) + 1;

	/* [ticket.C] RELEASE, pairs with ticket.A and .B: publish the critical
	 * section. A store of the half: arrivals may change the other one. */
	smp_store_release(&lock->owner, served);
}

#endif
