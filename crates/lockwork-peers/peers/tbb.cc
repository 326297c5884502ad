// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* oneTBB's mutexes. */
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/queuing_rw_mutex.h>
#include <oneapi/tbb/rw_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>
#include <oneapi/tbb/version.h>

#include <new>

#include "peer.h"

/* Mutexes that have functions of their own; those for readers: if it has them. */
template <class Mutex> struct direct {
	static Mutex *of(void *lock)
	{
		return static_cast<Mutex *>(lock);
	}

	static void init(void *lock)
	{
		new (lock) Mutex;
	}

	static void lock(void *lock)
	{
		of(lock)->lock();
	}

	static void unlock(void *lock)
	{
		of(lock)->unlock();
	}

	static bool trylock(void *lock)
	{
		return of(lock)->try_lock();
	}

	static void read_lock(void *lock)
	{
		of(lock)->lock_shared();
	}

	static void read_unlock(void *lock)
	{
		of(lock)->unlock_shared();
	}

	static bool read_trylock(void *lock)
	{
		return of(lock)->try_lock_shared();
	}

	static void pairs(void *mutex, u64 n)
	{
		peer_pairs(mutex, n, lock, unlock);
	}

	static void read_pairs(void *mutex, u64 n)
	{
		peer_pairs(mutex, n, read_lock, read_unlock);
	}

	static constexpr lk_ops ops(const char *name, const char *summary,
				    u32 flags)
	{
		return peer_ops<Mutex>(name, summary, flags, init, lock, unlock,
				       trylock);
	}

	static constexpr lk_ops rw_ops(const char *name, const char *summary,
				       u32 flags)
	{
		return peer_shared(ops(name, summary, flags), read_lock,
				   read_unlock, read_trylock);
	}
};

/*
 * A thread's scoped_locks, the nodes of a queue that it is in. Raw memory, so
 * that neither its first use nor its exit has anything to run.
 */
template <class Held> struct stack {
	u32 depth;
	void *lock[PEER_DEPTH];
	alignas(Held) unsigned char memory[PEER_DEPTH][sizeof(Held)];
};

template <class Mutex, const char *name> struct queued {
	using Held = typename Mutex::scoped_lock;
	static __thread stack<Held> nodes;

	static void *push(void *lock)
	{
		stack<Held> *own = &nodes;

		if (__builtin_expect(own->depth == PEER_DEPTH, 0))
			peer_fatal(name, PEER_TOO_DEEP);
		own->lock[own->depth] = lock;
		return own->memory[own->depth++];
	}

	/* The destructor releases what the scoped_lock holds, if anything. */
	static void pop(void *lock)
	{
		stack<Held> *own = &nodes;

		if (__builtin_expect(!own->depth ||
					     own->lock[own->depth - 1] != lock,
				     0))
			peer_fatal(name, PEER_NOT_LIFO);
		void *top = own->memory[--own->depth];
		std::launder(static_cast<Held *>(top))->~Held();
	}

	static Mutex *of(void *lock)
	{
		return static_cast<Mutex *>(lock);
	}

	static void init(void *lock)
	{
		new (lock) Mutex;
	}

	/* @mode is empty, or for a mutex with readers: whether to write. */
	template <bool... mode> static void lock(void *lock)
	{
		new (push(lock)) Held(*of(lock), mode...);
	}

	/* For readers too it succeeds only where nobody holds the mutex. */
	template <bool... mode> static bool trylock(void *lock)
	{
		Held *held = new (push(lock)) Held;

		if (held->try_acquire(*of(lock), mode...))
			return true;
		pop(lock);
		return false;
	}

	/* As a program would: the node is on its stack, not the thread's. */
	template <bool... mode> static void pairs(void *lock, u64 n)
	{
		while (n--)
			Held held(*of(lock), mode...);
	}
};

template <class Mutex, const char *name>
__thread stack<typename Mutex::scoped_lock> queued<Mutex, name>::nodes;

static constexpr char queuing_name[] = "tbb.queuing_mutex";
static constexpr char queuing_rw_name[] = "tbb.queuing_rw_mutex";

using mutex = direct<tbb::mutex>;
using rw = direct<tbb::rw_mutex>;
using spin = direct<tbb::spin_mutex>;
using spin_rw = direct<tbb::spin_rw_mutex>;
using queuing = queued<tbb::queuing_mutex, queuing_name>;
using queuing_rw = queued<tbb::queuing_rw_mutex, queuing_rw_name>;

static constexpr lk_ops mutex_ops = mutex::ops(
	"tbb.mutex", "oneTBB's mutex: spins, then sleeps", LK_SLEEPS);
static constexpr lk_ops rw_ops = rw::rw_ops(
	"tbb.rw_mutex",
	"oneTBB's read/write lock: spins, then sleeps; writers first",
	LK_SLEEPS);
static constexpr lk_ops spin_ops =
	spin::ops("tbb.spin_mutex",
		  "oneTBB's test-and-set lock: backs off, then yields", 0);
static constexpr lk_ops spin_rw_ops = spin_rw::rw_ops(
	"tbb.spin_rw_mutex",
	"oneTBB's spinning read/write lock: backs off, then yields", 0);
static constexpr lk_ops queuing_ops = peer_ops<tbb::queuing_mutex>(
	queuing_name, "oneTBB's queue lock: FIFO, waiters spin, then yield", 0,
	queuing::init, queuing::lock<>, queuing::pop, queuing::trylock<>);
static constexpr lk_ops queuing_rw_ops = peer_shared(
	peer_ops<tbb::queuing_rw_mutex>(queuing_rw_name,
					"oneTBB's queued read/write lock: "
					"FIFO, waiters spin, then yield",
					0, queuing_rw::init,
					queuing_rw::lock<true>, queuing_rw::pop,
					queuing_rw::trylock<true>),
	queuing_rw::lock<false>, queuing_rw::pop, queuing_rw::trylock<false>);

PEER_EXPORT const struct peer_entry peers_tbb[] = {
	{ &mutex_ops, PEER_MUTEX, mutex::pairs, nullptr },
	{ &rw_ops, PEER_RW, rw::pairs, rw::read_pairs },
	{ &spin_ops, PEER_SPIN, spin::pairs, nullptr },
	{ &spin_rw_ops, PEER_RW, spin_rw::pairs, spin_rw::read_pairs },
	{ &queuing_ops, PEER_SPIN, queuing::pairs<>, nullptr },
	{ &queuing_rw_ops, PEER_RW, queuing_rw::pairs<true>,
	  queuing_rw::pairs<false> },
	{ nullptr, 0, nullptr, nullptr },
};

PEER_EXPORT const char peers_tbb_version[] = TBB_VERSION_STRING;
