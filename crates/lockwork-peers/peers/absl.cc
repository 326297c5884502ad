// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Abseil: one mutex, shared or alone. */
#include <absl/base/config.h>
#include <absl/synchronization/mutex.h>

#include <new>

#include "peer.h"

static absl::Mutex *mutex(void *lock)
{
	return static_cast<absl::Mutex *>(lock);
}

static void init(void *lock)
{
	/*
	 * Builds without NDEBUG, such as Debian's, record each acquisition to
	 * find deadlocks. No release build does; nor does this one.
	 */
	absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
	new (lock) absl::Mutex;
}

static void lock(void *lock)
{
	mutex(lock)->Lock();
}

static void unlock(void *lock)
{
	mutex(lock)->Unlock();
}

static bool trylock(void *lock)
{
	return mutex(lock)->TryLock();
}

static void read_lock(void *lock)
{
	mutex(lock)->ReaderLock();
}

static void read_unlock(void *lock)
{
	mutex(lock)->ReaderUnlock();
}

static bool read_trylock(void *lock)
{
	return mutex(lock)->ReaderTryLock();
}

static void pairs(void *mu, u64 n)
{
	peer_pairs(mu, n, lock, unlock);
}

static void read_pairs(void *mu, u64 n)
{
	peer_pairs(mu, n, read_lock, read_unlock);
}

static constexpr lk_ops mutex_ops = peer_ops<absl::Mutex>(
	"absl.mutex", "absl::Mutex: spins a little, then sleeps", LK_SLEEPS,
	init, lock, unlock, trylock);
static constexpr lk_ops mutex_rw_ops = peer_shared(
	peer_ops<absl::Mutex>("absl.mutex_rw", "absl::Mutex, with readers",
			      LK_SLEEPS, init, lock, unlock, trylock),
	read_lock, read_unlock, read_trylock);

PEER_EXPORT const struct peer_entry peers_absl[] = {
	{ &mutex_ops, PEER_MUTEX, pairs, nullptr },
	{ &mutex_rw_ops, PEER_RW, pairs, read_pairs },
	{ nullptr, 0, nullptr, nullptr },
};

#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)

/* Only releases are numbered, not what is built from the head. */
PEER_EXPORT const char peers_absl_version[] =
#ifdef ABSL_LTS_RELEASE_VERSION
	TEXT(ABSL_LTS_RELEASE_VERSION) "." TEXT(ABSL_LTS_RELEASE_PATCH_LEVEL);
#else
	PEER_PACKAGE_VERSION;
#endif
