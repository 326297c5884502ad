/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_LOCKWORK_HPP
#define LOCKWORK_LOCKWORK_HPP

/*
 * Lockwork for C++17 and later: the locks of <lockwork/lockwork.h> as classes.
 * They work with std::unique_lock, std::shared_lock, std::scoped_lock and
 * std::condition_variable_any. <lockwork/lockwork.h> says what each lock promises.
 *
 *   mutex               24 bytes  Lockable, TimedLockable
 *   shared_mutex        24 bytes  the same, SharedLockable, SharedTimedLockable
 *   spinlock             4 bytes  Lockable
 *   spin_shared_mutex    8 bytes  Lockable, SharedLockable; its waiters spin
 *   condition_variable  16 bytes  for std::unique_lock<lockwork::mutex>
 *
 * An object must stay alive until the last call on it has returned in every thread. The standard allows
 * more: to destroy a mutex as soon as it is unlocked, and a condition variable as soon as its waiters are
 * notified. Code that does so cannot use these classes.
 *
 * Constructors are constexpr and destructors are trivial. So an object in static
 * storage can be used during the whole life of the process. Objects cannot be
 * copied or moved. The classes throw nothing; an exception can only come from the
 * caller's predicate or clock. No lock is recursive, and no lock works between
 * processes. native_handle() returns the C object.
 *
 * A timed wait that fails ends at its limit or later, never earlier. Time is
 * measured by std::chrono::steady_clock. A deadline on another clock is compared
 * with that clock again when the wait ends. If that clock is set forward during
 * the wait, the wait therefore ends late. A limit of more than 95 years is
 * treated as 95 years.
 */
#if __cplusplus < 201703L
#error "<lockwork/lockwork.hpp> needs C++17 or later: compile with -std=c++17"
#endif

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

/* The longest wait, in seconds: as nanoseconds it fits into 64 bits. */
constexpr long longest = 3000000000;

/* Converts @time to CLOCK_MONOTONIC, which steady_clock uses on Linux. */
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

/* Returns the time of CLOCK_MONOTONIC that is @wait from now. */
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

/*
 * Returns the time left until @time, by its own clock. The exact difference to a time that is far
 * away may not fit into its type.
 */
template <class Clock, class Duration>
std::chrono::nanoseconds
time_left(const std::chrono::time_point<Clock, Duration> &time)
{
	const auto now = Clock::now();
	const double about = real_seconds(time.time_since_epoch()).count() -
			     real_seconds(now.time_since_epoch()).count();

	if (!(about < longest))
		return std::chrono::seconds(longest);
	if (about < -1 || time <= now)
		return std::chrono::nanoseconds::zero();
	return std::chrono::ceil<std::chrono::nanoseconds>(time - now);
}

/*
 * Calls @try_for with the time left until @deadline, which may be on a clock that is
 * set forward or back meanwhile: until it returns true, or the deadline has passed.
 */
template <class Clock, class Duration, class TryFor>
bool try_until(const std::chrono::time_point<Clock, Duration> &deadline,
	       TryFor try_for)
{
	do {
		if (try_for(time_left(deadline)))
			return true;
	} while (time_left(deadline).count() > 0);
	return false;
}

} // namespace detail

/*
 * lw_mutex_t: a mutex whose waiters spin while the holder runs, then sleep. As C++
 * requires, unlock it in the thread that locked it.
 */
class LW_LOCK_ mutex
{
      public:
	using native_handle_type = ::lw_mutex_t *;

	constexpr mutex() noexcept = default;
	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;

	/* Waits for the mutex and locks it. The caller must not hold it. */
	void lock() noexcept LW_ACQUIRES_
	{
		::lw_mutex_lock(&mutex_);
	}

	/* Does not wait. Returns false only if the mutex is held. */
	[[nodiscard]] bool try_lock() noexcept LW_TRIES_
	{
		return ::lw_mutex_trylock(&mutex_);
	}

	/* The caller must hold the mutex. */
	void unlock() noexcept LW_RELEASES_
	{
		::lw_mutex_unlock(&mutex_);
	}

	/* Waits at most @wait. Returns true if the caller now holds it. */
	template <class Rep, class Period>
	[[nodiscard]] bool
	try_lock_for(const std::chrono::duration<Rep, Period> &wait) LW_TRIES_
	{
		if (try_lock())
			return true;
		const ::timespec until = detail::monotonic_in(wait);
		return ::lw_mutex_timedlock(&mutex_, &until);
	}

	/* Waits at most until @deadline. Returns true if the caller now holds it. */
	template <class Duration>
	[[nodiscard]] bool try_lock_until(
		const std::chrono::time_point<std::chrono::steady_clock,
					      Duration> &deadline) LW_TRIES_
	{
		const ::timespec until = detail::monotonic(deadline);
		return ::lw_mutex_timedlock(&mutex_, &until);
	}

	/* The same, with a deadline on any clock. */
	template <class Clock, class Duration>
	[[nodiscard]] bool
	try_lock_until(const std::chrono::time_point<Clock, Duration> &deadline)
		LW_TRIES_
	{
		return detail::try_until(deadline, [this](auto left) {
			return this->try_lock_for(left);
		});
	}

	native_handle_type native_handle() noexcept
	{
		return &mutex_;
	}

      private:
	::lw_mutex_t mutex_{};
};

/*
 * lw_spinlock_t: a queued spinlock for critical sections of a few hundred
 * nanoseconds. lw_spin_set_mode() sets the mode of all spinlocks of the process.
 * There are no timed waits.
 */
class LW_LOCK_ spinlock
{
      public:
	using native_handle_type = ::lw_spinlock_t *;

	constexpr spinlock() noexcept = default;
	spinlock(const spinlock &) = delete;
	spinlock &operator=(const spinlock &) = delete;

	/* Waits for the lock and takes it. The caller must not hold it. */
	void lock() noexcept LW_ACQUIRES_
	{
		::lw_spin_lock(&spin_);
	}

	/*
	 * Does not wait. Returns false if the lock is held. The mode decides
	 * whether it takes a free lock ahead of waiters: see lw_spin_trylock().
	 */
	[[nodiscard]] bool try_lock() noexcept LW_TRIES_
	{
		return ::lw_spin_trylock(&spin_);
	}

	/* The caller must hold the lock. */
	void unlock() noexcept LW_RELEASES_
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
 * lw_rwlock_t: a read/write lock whose waiters spin while a writer runs, then sleep.
 * It can replace std::shared_mutex and std::shared_timed_mutex. A thread that
 * holds it must not lock it again, not even shared. (For that, call
 * lw_read_lock_nested(native_handle()).)
 */
class LW_LOCK_ shared_mutex
{
      public:
	using native_handle_type = ::lw_rwlock_t *;

	constexpr shared_mutex() noexcept = default;
	shared_mutex(const shared_mutex &) = delete;
	shared_mutex &operator=(const shared_mutex &) = delete;

	/* Waits for the lock and takes it exclusively. */
	void lock() noexcept LW_ACQUIRES_
	{
		::lw_write_lock(&rw_);
	}

	/* Does not wait. Returns true if the caller now holds it exclusively. */
	[[nodiscard]] bool try_lock() noexcept LW_TRIES_
	{
		return ::lw_write_trylock(&rw_);
	}

	/* The caller must hold the lock exclusively. */
	void unlock() noexcept LW_RELEASES_
	{
		::lw_write_unlock(&rw_);
	}

	/* Waits at most @wait. Returns true if the caller now holds it exclusively. */
	template <class Rep, class Period>
	[[nodiscard]] bool
	try_lock_for(const std::chrono::duration<Rep, Period> &wait) LW_TRIES_
	{
		if (try_lock())
			return true;
		const ::timespec until = detail::monotonic_in(wait);
		return ::lw_write_timedlock(&rw_, &until);
	}

	/* Waits at most until @deadline, as above. */
	template <class Duration>
	[[nodiscard]] bool try_lock_until(
		const std::chrono::time_point<std::chrono::steady_clock,
					      Duration> &deadline) LW_TRIES_
	{
		const ::timespec until = detail::monotonic(deadline);
		return ::lw_write_timedlock(&rw_, &until);
	}

	/* The same, with a deadline on any clock. */
	template <class Clock, class Duration>
	[[nodiscard]] bool
	try_lock_until(const std::chrono::time_point<Clock, Duration> &deadline)
		LW_TRIES_
	{
		return detail::try_until(deadline, [this](auto left) {
			return this->try_lock_for(left);
		});
	}

	/*
	 * The caller holds the lock exclusively, and afterwards shared. No writer
	 * holds it in between.
	 */
	void downgrade() noexcept
		LW_ANALYSIS_(release_capability()) LW_ACQUIRES_SHARED_
	{
		::lw_write_downgrade(&rw_);
	}

	/* Waits for the lock and takes it shared: readers hold it together. */
	void lock_shared() noexcept LW_ACQUIRES_SHARED_
	{
		::lw_read_lock(&rw_);
	}

	/* Does not wait. Returns true if the caller now holds it shared. */
	[[nodiscard]] bool try_lock_shared() noexcept LW_TRIES_SHARED_
	{
		return ::lw_read_trylock(&rw_);
	}

	/* The caller must hold the lock shared. */
	void unlock_shared() noexcept LW_RELEASES_SHARED_
	{
		::lw_read_unlock(&rw_);
	}

	/* Waits at most @wait. Returns true if the caller now holds it shared. */
	template <class Rep, class Period>
	[[nodiscard]] bool try_lock_shared_for(
		const std::chrono::duration<Rep, Period> &wait) LW_TRIES_SHARED_
	{
		if (try_lock_shared())
			return true;
		const ::timespec until = detail::monotonic_in(wait);
		return ::lw_read_timedlock(&rw_, &until);
	}

	/* Waits at most until @deadline, as above. */
	template <class Duration>
	[[nodiscard]] bool try_lock_shared_until(
		const std::chrono::time_point<std::chrono::steady_clock,
					      Duration> &deadline)
		LW_TRIES_SHARED_
	{
		const ::timespec until = detail::monotonic(deadline);
		return ::lw_read_timedlock(&rw_, &until);
	}

	/* The same, with a deadline on any clock. */
	template <class Clock, class Duration>
	[[nodiscard]] bool try_lock_shared_until(
		const std::chrono::time_point<Clock, Duration> &deadline)
		LW_TRIES_SHARED_
	{
		return detail::try_until(deadline, [this](auto left) {
			return this->try_lock_shared_for(left);
		});
	}

	native_handle_type native_handle() noexcept
	{
		return &rw_;
	}

      private:
	::lw_rwlock_t rw_{};
};

/*
 * lw_spin_rwlock_t: a fair read/write lock whose waiters spin. A thread that holds it
 * must not lock it again, not even shared. There are no timed waits.
 */
class LW_LOCK_ spin_shared_mutex
{
      public:
	using native_handle_type = ::lw_spin_rwlock_t *;

	constexpr spin_shared_mutex() noexcept = default;
	spin_shared_mutex(const spin_shared_mutex &) = delete;
	spin_shared_mutex &operator=(const spin_shared_mutex &) = delete;

	/* Waits for the lock and takes it exclusively. */
	void lock() noexcept LW_ACQUIRES_
	{
		::lw_spin_write_lock(&rw_);
	}

	/* Does not wait. Returns true if the caller now holds it exclusively. */
	[[nodiscard]] bool try_lock() noexcept LW_TRIES_
	{
		return ::lw_spin_write_trylock(&rw_);
	}

	/* The caller must hold the lock exclusively. */
	void unlock() noexcept LW_RELEASES_
	{
		::lw_spin_write_unlock(&rw_);
	}

	/* Waits for the lock and takes it shared: readers hold it together. */
	void lock_shared() noexcept LW_ACQUIRES_SHARED_
	{
		::lw_spin_read_lock(&rw_);
	}

	/* Does not wait. Returns false if a writer holds it, or waits for readers to leave. */
	[[nodiscard]] bool try_lock_shared() noexcept LW_TRIES_SHARED_
	{
		return ::lw_spin_read_trylock(&rw_);
	}

	/* The caller must hold the lock shared. */
	void unlock_shared() noexcept LW_RELEASES_SHARED_
	{
		::lw_spin_read_unlock(&rw_);
	}

	native_handle_type native_handle() noexcept
	{
		return &rw_;
	}

      private:
	::lw_spin_rwlock_t rw_{};
};

/*
 * lw_cond_t: a condition variable for lockwork::mutex. Each wait unlocks the
 * mutex that @lock owns, and locks it again before it returns. A wait without a
 * predicate may return without a notification.
 */
class condition_variable
{
      public:
	using native_handle_type = ::lw_cond_t *;

	constexpr condition_variable() noexcept = default;
	condition_variable(const condition_variable &) = delete;
	condition_variable &operator=(const condition_variable &) = delete;

	/* Wakes one waiter, if any. */
	void notify_one() noexcept
	{
		::lw_cond_signal(&cond_);
	}

	/* Wakes all waiters. */
	void notify_all() noexcept
	{
		::lw_cond_broadcast(&cond_);
	}

	/* Waits for a notification. */
	void wait(std::unique_lock<mutex> &lock) noexcept LW_BODY_
	{
		::lw_cond_wait(&cond_, lock.mutex()->native_handle());
	}

	/* Waits until @ready() returns true. */
	template <class Predicate>
	void wait(std::unique_lock<mutex> &lock, Predicate ready)
	{
		while (!ready())
			wait(lock);
	}

	/* Waits for a notification, at most until @deadline. */
	template <class Duration>
	std::cv_status
	wait_until(std::unique_lock<mutex> &lock,
		   const std::chrono::time_point<std::chrono::steady_clock,
						 Duration> &deadline)
	{
		return timed(lock, detail::monotonic(deadline));
	}

	/* The same, with a deadline on any clock. */
	template <class Clock, class Duration>
	std::cv_status
	wait_until(std::unique_lock<mutex> &lock,
		   const std::chrono::time_point<Clock, Duration> &deadline)
	{
		wait_for(lock, detail::time_left(deadline));
		return detail::time_left(deadline).count() > 0
			       ? std::cv_status::no_timeout
			       : std::cv_status::timeout;
	}

	/* Waits until @ready() or @deadline. Returns the last value of @ready(). */
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

	/* Waits for a notification, at most @wait. */
	template <class Rep, class Period>
	std::cv_status wait_for(std::unique_lock<mutex> &lock,
				const std::chrono::duration<Rep, Period> &wait)
	{
		return timed(lock, detail::monotonic_in(wait));
	}

	/* Waits until @ready(), at most @wait. Returns the last @ready(). */
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
			     const ::timespec &until) noexcept LW_BODY_
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
