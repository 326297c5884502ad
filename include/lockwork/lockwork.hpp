/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_LOCKWORK_HPP
#define LOCKWORK_LOCKWORK_HPP

/*
 * Lockwork for C++17 and later: the locks of <lockwork/lockwork.h> as classes,
 * for std::unique_lock, std::shared_lock, std::scoped_lock and
 * std::condition_variable_any. That header says what each lock promises; here:
 *
 *   mutex               24 bytes  Lockable, TimedLockable
 *   spinlock             4 bytes  Lockable
 *   shared_mutex         8 bytes  Lockable, SharedLockable; its waiters spin
 *   condition_variable   8 bytes  for std::unique_lock<lockwork::mutex>
 *
 * Constructors are constexpr, destructors trivial: an object in static storage
 * is usable before and after everything else. Objects are neither copied nor
 * moved. Nothing is thrown but what a caller's predicate or clock throws. None of
 * the locks is recursive, and none works between processes. native_handle() is
 * the C object.
 *
 * Waits with a limit end at it or after it, never before. They are measured by
 * std::chrono::steady_clock; a deadline on another clock is looked at again when
 * the wait is over, so a clock that is set forward meanwhile is noticed late. A
 * limit more than 95 years away is taken for one of 95 years.
 */
#include <lockwork/lockwork.h>

#include <chrono>
#include <condition_variable> // std::cv_status
#include <ctime>
#include <mutex> // std::unique_lock

namespace lockwork
{

namespace detail
{

using std::chrono::steady_clock;
using real_seconds = std::chrono::duration<double>;

/* Seconds; nanoseconds since any epoch still fit into 64 bits. */
constexpr long longest = 3000000000;

/* @time on CLOCK_MONOTONIC, which is what steady_clock is on Linux. */
template <class Duration>
::timespec
monotonic(const std::chrono::time_point<steady_clock, Duration> &time)
{
	using std::chrono::ceil;
	using std::chrono::floor;
	const auto since = time.time_since_epoch();
	const double about = real_seconds(since).count();
	::timespec result{};

	if (!(about < longest)) {
		result.tv_sec = longest;
	} else if (about > 0) {
		const auto whole = floor<std::chrono::seconds>(since);
		const auto rest = ceil<std::chrono::nanoseconds>(since - whole);

		result.tv_sec = static_cast<std::time_t>(whole.count());
		result.tv_nsec = static_cast<long>(rest.count());
	}
	return result;
}

/* @wait from now on CLOCK_MONOTONIC. */
template <class Rep, class Period>
::timespec monotonic_in(const std::chrono::duration<Rep, Period> &wait)
{
	using std::chrono::nanoseconds;
	const double about = real_seconds(wait).count();
	nanoseconds rest{ 0 };

	if (!(about < longest))
		rest = std::chrono::seconds(longest);
	else if (about > 0)
		rest = std::chrono::ceil<nanoseconds>(wait);
	return monotonic(steady_clock::now() + rest);
}

/* How long until @time on its own clock. */
template <class Clock, class Duration>
typename Clock::duration
time_left(const std::chrono::time_point<Clock, Duration> &time)
{
	const auto now = Clock::now();

	if (time <= now)
		return Clock::duration::zero();
	return std::chrono::ceil<typename Clock::duration>(time - now);
}

} // namespace detail

/*
 * A mutex whose waiters spin while the holder runs, then sleep: lw_mutex_t. Must
 * be unlocked by the thread that locked it.
 */
class mutex
{
      public:
	using native_handle_type = ::lw_mutex_t *;

	constexpr mutex() noexcept = default;
	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;

	/* Waits until the caller holds the mutex, which it does not yet. */
	void lock() noexcept
	{
		::lw_mutex_lock(&mutex_);
	}

	/* True: held. Does not wait, and fails only if the mutex is held. */
	bool try_lock() noexcept
	{
		return ::lw_mutex_trylock(&mutex_);
	}

	/* The caller holds the mutex. */
	void unlock() noexcept
	{
		::lw_mutex_unlock(&mutex_);
	}

	/* Waits at most @wait. True: held. */
	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &wait)
	{
		if (try_lock())
			return true;
		const ::timespec until = detail::monotonic_in(wait);
		return ::lw_mutex_timedlock(&mutex_, &until);
	}

	/* Waits at most until @deadline. True: held. */
	template <class Duration>
	bool
	try_lock_until(const std::chrono::time_point<std::chrono::steady_clock,
						     Duration> &deadline)
	{
		const ::timespec until = detail::monotonic(deadline);
		return ::lw_mutex_timedlock(&mutex_, &until);
	}

	/* The same on any clock. */
	template <class Clock, class Duration>
	bool
	try_lock_until(const std::chrono::time_point<Clock, Duration> &deadline)
	{
		do {
			if (try_lock_for(detail::time_left(deadline)))
				return true;
		} while (Clock::now() < deadline);
		return false;
	}

	native_handle_type native_handle() noexcept
	{
		return &mutex_;
	}

      private:
	::lw_mutex_t mutex_{};
};

/*
 * A queued spinlock: lw_spinlock_t. For sections of some hundred nanoseconds.
 * Its mode is one for the process: lw_spin_set_mode(). No limited waits: a queue of spinners cannot be left.
 */
class spinlock
{
      public:
	using native_handle_type = ::lw_spinlock_t *;

	constexpr spinlock() noexcept = default;
	spinlock(const spinlock &) = delete;
	spinlock &operator=(const spinlock &) = delete;

	/* Waits until the caller holds the lock, which it does not yet. */
	void lock() noexcept
	{
		::lw_spin_lock(&spin_);
	}

	/* True: held. Does not wait; fails if the lock is held or waited for. */
	bool try_lock() noexcept
	{
		return ::lw_spin_trylock(&spin_);
	}

	/* The caller holds the lock. */
	void unlock() noexcept
	{
		::lw_spin_unlock(&spin_);
	}

	native_handle_type native_handle() noexcept
	{
		return &spin_;
	}

      private:
	::lw_spinlock_t spin_{};
};

/*
 * A fair read/write lock whose waiters spin: lw_rwlock_t. A thread that reads must
 * not lock it again, not even to read. No limited waits, as above.
 */
class shared_mutex
{
      public:
	using native_handle_type = ::lw_rwlock_t *;

	constexpr shared_mutex() noexcept = default;
	shared_mutex(const shared_mutex &) = delete;
	shared_mutex &operator=(const shared_mutex &) = delete;

	/* Waits until the caller holds the lock alone. */
	void lock() noexcept
	{
		::lw_write_lock(&rw_);
	}

	/* True: held alone. Does not wait. */
	bool try_lock() noexcept
	{
		return ::lw_write_trylock(&rw_);
	}

	/* The caller holds the lock alone. */
	void unlock() noexcept
	{
		::lw_write_unlock(&rw_);
	}

	/* Waits until the caller holds the lock, perhaps with other readers. */
	void lock_shared() noexcept
	{
		::lw_read_lock(&rw_);
	}

	/* True: held shared. Does not wait; fails if a writer holds or waits. */
	bool try_lock_shared() noexcept
	{
		return ::lw_read_trylock(&rw_);
	}

	/* The caller holds the lock shared. */
	void unlock_shared() noexcept
	{
		::lw_read_unlock(&rw_);
	}

	native_handle_type native_handle() noexcept
	{
		return &rw_;
	}

      private:
	::lw_rwlock_t rw_{};
};

/*
 * A condition variable for lockwork::mutex: lw_cond_t. Each wait unlocks the
 * mutex that @lock owns, and has locked it again when it returns. A wait without
 * a predicate may return for no reason.
 */
class condition_variable
{
      public:
	using native_handle_type = ::lw_cond_t *;

	constexpr condition_variable() noexcept = default;
	condition_variable(const condition_variable &) = delete;
	condition_variable &operator=(const condition_variable &) = delete;

	/* Wakes one waiter, if there is one. */
	void notify_one() noexcept
	{
		::lw_cond_signal(&cond_);
	}

	/* Wakes all waiters. */
	void notify_all() noexcept
	{
		::lw_cond_broadcast(&cond_);
	}

	/* Waits for a notification, or until @ready() is true. */
	void wait(std::unique_lock<mutex> &lock) noexcept
	{
		::lw_cond_wait(&cond_, lock.mutex()->native_handle());
	}

	template <class Predicate>
	void wait(std::unique_lock<mutex> &lock, Predicate ready)
	{
		while (!ready())
			wait(lock);
	}

	/* At most until @deadline. */
	template <class Duration>
	std::cv_status
	wait_until(std::unique_lock<mutex> &lock,
		   const std::chrono::time_point<std::chrono::steady_clock,
						 Duration> &deadline)
	{
		return timed(lock, detail::monotonic(deadline));
	}

	/* The same on any clock. */
	template <class Clock, class Duration>
	std::cv_status
	wait_until(std::unique_lock<mutex> &lock,
		   const std::chrono::time_point<Clock, Duration> &deadline)
	{
		wait_for(lock, detail::time_left(deadline));
		return Clock::now() < deadline ? std::cv_status::no_timeout
					       : std::cv_status::timeout;
	}

	/* Until @ready() is true; returns what it says at the end. */
	template <class Clock, class Duration, class Predicate>
	bool
	wait_until(std::unique_lock<mutex> &lock,
		   const std::chrono::time_point<Clock, Duration> &deadline,
		   Predicate ready)
	{
		while (!ready()) {
			if (wait_until(lock, deadline) ==
			    std::cv_status::timeout)
				return ready();
		}
		return true;
	}

	/* At most for @wait. */
	template <class Rep, class Period>
	std::cv_status wait_for(std::unique_lock<mutex> &lock,
				const std::chrono::duration<Rep, Period> &wait)
	{
		return timed(lock, detail::monotonic_in(wait));
	}

	template <class Rep, class Period, class Predicate>
	bool wait_for(std::unique_lock<mutex> &lock,
		      const std::chrono::duration<Rep, Period> &wait,
		      Predicate ready)
	{
		const ::timespec until = detail::monotonic_in(wait);

		while (!ready()) {
			if (timed(lock, until) == std::cv_status::timeout)
				return ready();
		}
		return true;
	}

	native_handle_type native_handle() noexcept
	{
		return &cond_;
	}

      private:
	std::cv_status timed(std::unique_lock<mutex> &lock,
			     const ::timespec &until) noexcept
	{
		::lw_mutex_t *held = lock.mutex()->native_handle();

		return ::lw_cond_timedwait(&cond_, held, &until)
			       ? std::cv_status::no_timeout
			       : std::cv_status::timeout;
	}

	::lw_cond_t cond_{};
};

} // namespace lockwork

#endif
