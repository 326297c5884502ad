// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* nsync: one word, which sleeps, shared or alone. */
#include <nsync.h>

#include "peer.h"

static void init(void *lock)
{
	nsync_mu_init(lock);
}

static void lock(void *lock)
{
	nsync_mu_lock(lock);
}

static void unlock(void *lock)
{
	nsync_mu_unlock(lock);
}

static bool trylock(void *lock)
{
	return nsync_mu_trylock(lock);
}

static void read_lock(void *lock)
{
	nsync_mu_rlock(lock);
}

static void read_unlock(void *lock)
{
	nsync_mu_runlock(lock);
}

static bool read_trylock(void *lock)
{
	return nsync_mu_rtrylock(lock);
}

/* nsync offers nothing inline: these are the calls, without the table. */
static void pairs(void *mu, u64 n)
{
	peer_pairs(mu, n, lock, unlock);
}

static void read_pairs(void *mu, u64 n)
{
	peer_pairs(mu, n, read_lock, read_unlock);
}

static const struct lk_ops mu_ops = {
	.name = "nsync.mu",
	.summary = "nsync's mutex: spins a little, then sleeps",
	.size = sizeof(nsync_mu),
	.align = _Alignof(nsync_mu),
	.flags = LK_SLEEPS,
	.init = init,
	.lock = lock,
	.unlock = unlock,
	.trylock = trylock,
};

static const struct lk_ops mu_rw_ops = {
	.name = "nsync.mu_rw",
	.summary = "nsync's mutex, with readers",
	.size = sizeof(nsync_mu),
	.align = _Alignof(nsync_mu),
	.flags = LK_RW | LK_SLEEPS,
	.init = init,
	.lock = lock,
	.unlock = unlock,
	.trylock = trylock,
	.read_lock = read_lock,
	.read_unlock = read_unlock,
	.read_trylock = read_trylock,
};

PEER_EXPORT const struct peer_entry peers_nsync[] = {
	{ &mu_ops, PEER_MUTEX, pairs, NULL },
	{ &mu_rw_ops, PEER_RW, pairs, read_pairs },
	{ 0 },
};

/* Its headers do not tell; its package does. */
PEER_EXPORT const char peers_nsync_version[] = PEER_PACKAGE_VERSION;
