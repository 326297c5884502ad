// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Concurrency Kit: its locks are inline functions, none of which yields. */
#include <ck_md.h>
#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_spinlock.h>

#include "peer.h"

/* -- ck_spinlock_fas ------------------------------------------------------- */

static void fas_init(void *lock)
{
	ck_spinlock_fas_init(lock);
}

static void fas_lock(void *lock)
{
	ck_spinlock_fas_lock(lock);
}

static void fas_unlock(void *lock)
{
	ck_spinlock_fas_unlock(lock);
}

static bool fas_trylock(void *lock)
{
	return ck_spinlock_fas_trylock(lock);
}

static void fas_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, fas_lock, fas_unlock);
}

static const struct lk_ops fas_ops = {
	.name = "ck.fas",
	.summary = "Concurrency Kit's test-and-set lock",
	.size = sizeof(ck_spinlock_fas_t),
	.align = _Alignof(ck_spinlock_fas_t),
	.init = fas_init,
	.lock = fas_lock,
	.unlock = fas_unlock,
	.trylock = fas_trylock,
};

/* -- ck_spinlock_cas ------------------------------------------------------- */

static void cas_init(void *lock)
{
	ck_spinlock_cas_init(lock);
}

static void cas_lock(void *lock)
{
	ck_spinlock_cas_lock(lock);
}

static void cas_unlock(void *lock)
{
	ck_spinlock_cas_unlock(lock);
}

static bool cas_trylock(void *lock)
{
	return ck_spinlock_cas_trylock(lock);
}

static void cas_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, cas_lock, cas_unlock);
}

static const struct lk_ops cas_ops = {
	.name = "ck.cas",
	.summary = "Concurrency Kit's compare-and-swap lock",
	.size = sizeof(ck_spinlock_cas_t),
	.align = _Alignof(ck_spinlock_cas_t),
	.init = cas_init,
	.lock = cas_lock,
	.unlock = cas_unlock,
	.trylock = cas_trylock,
};

/* -- ck_spinlock_ticket ---------------------------------------------------- */

static void ticket_init(void *lock)
{
	ck_spinlock_ticket_init(lock);
}

static void ticket_lock(void *lock)
{
	ck_spinlock_ticket_lock(lock);
}

static void ticket_unlock(void *lock)
{
	ck_spinlock_ticket_unlock(lock);
}

static void ticket_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, ticket_lock, ticket_unlock);
}

#ifdef CK_F_SPINLOCK_TICKET_TRYLOCK
static bool ticket_trylock(void *lock)
{
	return ck_spinlock_ticket_trylock(lock);
}
#else
#define ticket_trylock NULL
#endif

static const struct lk_ops ticket_ops = {
	.name = "ck.ticket",
	.summary = "Concurrency Kit's ticket lock: FIFO",
	.size = sizeof(ck_spinlock_ticket_t),
	.align = _Alignof(ck_spinlock_ticket_t),
	.init = ticket_init,
	.lock = ticket_lock,
	.unlock = ticket_unlock,
	.trylock = ticket_trylock,
};

/* -- ck_spinlock_mcs ------------------------------------------------------- */

/* The nodes that this thread has in queues, newest last. */
static __thread struct {
	u32 depth;
	void *lock[PEER_DEPTH];
	ck_spinlock_mcs_context_t node[PEER_DEPTH];
} mcs_nodes;

static ck_spinlock_mcs_context_t *mcs_push(void *lock)
{
	__typeof__(mcs_nodes) *own = &mcs_nodes;

	if (unlikely(own->depth == PEER_DEPTH))
		peer_fatal("ck.mcs", PEER_TOO_DEEP);
	own->lock[own->depth] = lock;
	return &own->node[own->depth++];
}

static ck_spinlock_mcs_context_t *mcs_pop(void *lock)
{
	__typeof__(mcs_nodes) *own = &mcs_nodes;

	if (unlikely(!own->depth || own->lock[own->depth - 1] != lock))
		peer_fatal("ck.mcs", PEER_NOT_LIFO);
	return &own->node[--own->depth];
}

static void mcs_init(void *lock)
{
	ck_spinlock_mcs_init(lock);
}

static void mcs_lock(void *lock)
{
	ck_spinlock_mcs_lock(lock, mcs_push(lock));
}

static void mcs_unlock(void *lock)
{
	ck_spinlock_mcs_unlock(lock, mcs_pop(lock));
}

static bool mcs_trylock(void *lock)
{
	if (ck_spinlock_mcs_trylock(lock, mcs_push(lock)))
		return true;
	mcs_pop(lock);
	return false;
}

/* As a program would: the node is on its stack, not the thread's. */
static void mcs_pairs(void *lock, u64 n)
{
	ck_spinlock_mcs_context_t node;

	while (n--) {
		ck_spinlock_mcs_lock(lock, &node);
		ck_spinlock_mcs_unlock(lock, &node);
	}
}

static const struct lk_ops mcs_ops = {
	.name = "ck.mcs",
	.summary = "Concurrency Kit's MCS queue lock: FIFO",
	.size = sizeof(ck_spinlock_mcs_t),
	.align = _Alignof(ck_spinlock_mcs_t),
	.init = mcs_init,
	.lock = mcs_lock,
	.unlock = mcs_unlock,
	.trylock = mcs_trylock,
};

/* -- ck_rwlock ------------------------------------------------------------- */

static void rw_init(void *lock)
{
	ck_rwlock_init(lock);
}

static void rw_lock(void *lock)
{
	ck_rwlock_write_lock(lock);
}

static void rw_unlock(void *lock)
{
	ck_rwlock_write_unlock(lock);
}

static bool rw_trylock(void *lock)
{
	return ck_rwlock_write_trylock(lock);
}

static void rw_read_lock(void *lock)
{
	ck_rwlock_read_lock(lock);
}

static void rw_read_unlock(void *lock)
{
	ck_rwlock_read_unlock(lock);
}

static bool rw_read_trylock(void *lock)
{
	return ck_rwlock_read_trylock(lock);
}

static void rw_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, rw_lock, rw_unlock);
}

static void rw_read_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, rw_read_lock, rw_read_unlock);
}

static const struct lk_ops rw_ops = {
	.name = "ck.rwlock",
	.summary = "Concurrency Kit's read/write lock: writers first",
	.size = sizeof(ck_rwlock_t),
	.align = _Alignof(ck_rwlock_t),
	.flags = LK_RW,
	.init = rw_init,
	.lock = rw_lock,
	.unlock = rw_unlock,
	.trylock = rw_trylock,
	.read_lock = rw_read_lock,
	.read_unlock = rw_read_unlock,
	.read_trylock = rw_read_trylock,
};

/* -- ck_pflock ------------------------------------------------------------- */

static void pf_init(void *lock)
{
	ck_pflock_init(lock);
}

static void pf_lock(void *lock)
{
	ck_pflock_write_lock(lock);
}

static void pf_unlock(void *lock)
{
	ck_pflock_write_unlock(lock);
}

static void pf_read_lock(void *lock)
{
	ck_pflock_read_lock(lock);
}

static void pf_read_unlock(void *lock)
{
	ck_pflock_read_unlock(lock);
}

static void pf_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, pf_lock, pf_unlock);
}

static void pf_read_pairs(void *lock, u64 n)
{
	peer_pairs(lock, n, pf_read_lock, pf_read_unlock);
}

static const struct lk_ops pf_ops = {
	.name = "ck.pflock",
	.summary = "Concurrency Kit's phase-fair read/write lock",
	.size = sizeof(ck_pflock_t),
	.align = _Alignof(ck_pflock_t),
	.flags = LK_RW,
	.init = pf_init,
	.lock = pf_lock,
	.unlock = pf_unlock,
	.read_lock = pf_read_lock,
	.read_unlock = pf_read_unlock,
};

PEER_EXPORT const struct peer_entry peers_ck[] = {
	{ &fas_ops, PEER_SPIN, fas_pairs, NULL },
	{ &cas_ops, PEER_SPIN, cas_pairs, NULL },
	{ &ticket_ops, PEER_SPIN, ticket_pairs, NULL },
	{ &mcs_ops, PEER_SPIN, mcs_pairs, NULL },
	{ &rw_ops, PEER_RW, rw_pairs, rw_read_pairs },
	{ &pf_ops, PEER_RW, pf_pairs, pf_read_pairs },
	{ 0 },
};

#ifdef CK_VERSION
PEER_EXPORT const char peers_ck_version[] = CK_VERSION;
#else
PEER_EXPORT const char peers_ck_version[] = PEER_PACKAGE_VERSION;
#endif
