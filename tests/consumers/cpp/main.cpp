// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The C++ classes of the installed library, each with the standard's own guards.
 * A wake-up that is lost is a hang.
 */
#include <lockwork/lockwork.hpp>
#include <lockwork/profile.h>

#include <cstdio>
#include <cstdlib>
#include <shared_mutex>
#include <thread>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;

#define EXPECT(what)                                                           \
	do {                                                                   \
		if (!(what)) {                                                 \
			std::printf("%s:%d: %s\n", __FILE__, __LINE__, #what); \
			std::exit(1);                                          \
		}                                                              \
	} while (0)

namespace
{

template <class Lock, std::size_t Size> constexpr void test_type()
{
	static_assert(sizeof(Lock) == Size);
	static_assert(std::is_standard_layout_v<Lock>);
	static_assert(std::is_nothrow_default_constructible_v<Lock>);
	static_assert(std::is_trivially_destructible_v<Lock>);
	static_assert(!std::is_copy_constructible_v<Lock>);
	static_assert(!std::is_move_constructible_v<Lock>);
	static_assert(!std::is_copy_assignable_v<Lock>);
	static_assert(!std::is_move_assignable_v<Lock>);
}

template void test_type<lockwork::mutex, 24>();
template void test_type<lockwork::spinlock, 4>();
template void test_type<lockwork::shared_mutex, 24>();
template void test_type<lockwork::spin_shared_mutex, 8>();
template void test_type<lockwork::condition_variable, 16>();

/* Constant initialisation, which C++20 can insist on. */
#if __cplusplus >= 202002L
#define CONSTINIT constinit
#else
#define CONSTINIT
#endif
CONSTINIT lockwork::mutex mutex;
CONSTINIT lockwork::spinlock spin;
CONSTINIT lockwork::shared_mutex shared;
CONSTINIT lockwork::spin_shared_mutex spin_shared;
CONSTINIT lockwork::condition_variable changed;

constexpr int threads = 4, rounds = 10000;

template <class Body> void in_threads(int n, Body body)
{
	std::vector<std::thread> running;

	for (int i = 0; i < n; i++)
		running.emplace_back(body, i);
	for (std::thread &thread : running)
		thread.join();
}

template <class Shared> void read_or_write(Shared &lock, bool write, long *pair)
{
	if (write) {
		std::unique_lock<Shared> held(lock);
		pair[0]++;
		pair[1]++;
	} else {
		std::shared_lock<Shared> held(lock);
		EXPECT(pair[0] == pair[1]);
	}
}

void test_exclusion()
{
	long by_mutex = 0, by_spin = 0, by_both = 0;
	long pair[2] = {}, spin_pair[2] = {};

	in_threads(threads, [&](int) {
		for (int i = 0; i < rounds; i++) {
			{
				std::lock_guard<lockwork::mutex> held(mutex);
				by_mutex++;
			}
			{
				std::unique_lock<lockwork::spinlock> held(spin);
				by_spin++;
			}
			{
				std::scoped_lock both(spin, mutex);
				by_both++;
			}
			read_or_write(shared, i % 4 == 0, pair);
			read_or_write(spin_shared, i % 4 == 0, spin_pair);
		}
	});
	EXPECT(by_mutex == long(threads) * rounds && by_spin == by_mutex);
	EXPECT(by_both == by_mutex && pair[0] == by_mutex / 4);
	EXPECT(spin_pair[0] == pair[0]);
}

template <class Shared> void test_shared_tries(Shared &lock)
{
	lock.lock();
	in_threads(1, [&](int) {
		EXPECT(!lock.try_lock() && !lock.try_lock_shared());
	});
	lock.unlock();
	lock.lock_shared();
	in_threads(1, [&](int) {
		EXPECT(!lock.try_lock() && lock.try_lock_shared());
		lock.unlock_shared();
	});
	lock.unlock_shared();
	EXPECT(lock.try_lock());
	lock.unlock();
}

void test_tries()
{
	std::scoped_lock all(mutex, spin);

	in_threads(1,
		   [](int) { EXPECT(!mutex.try_lock() && !spin.try_lock()); });
	test_shared_tries(shared);
	test_shared_tries(spin_shared);
}

/* As std::shared_timed_mutex, with the standard's guards. */
template <class Clock> void test_timed_shared()
{
	using shared_lock = std::shared_lock<lockwork::shared_mutex>;
	using unique_lock = std::unique_lock<lockwork::shared_mutex>;
	unique_lock writes(shared);

	in_threads(1, [](int) {
		const auto start = Clock::now();

		EXPECT(!shared_lock(shared, start + 10ms).owns_lock());
		EXPECT(Clock::now() >= start + 10ms);
		EXPECT(!unique_lock(shared, start + 20ms).owns_lock());
		EXPECT(Clock::now() >= start + 20ms);
		EXPECT(!shared_lock(shared, 1ms).owns_lock());
		EXPECT(!unique_lock(shared, 1ms).owns_lock());
		EXPECT(!shared.try_lock_shared_for(-1h));
		EXPECT(!shared.try_lock_until(typename Clock::time_point{}));
	});
	writes.release()->downgrade();
	in_threads(1, [](int) {
		EXPECT(shared_lock(shared, 0s).owns_lock());
		EXPECT(!unique_lock(shared, 1ms).owns_lock());
	});
	shared.unlock_shared();
	EXPECT(unique_lock(shared, Clock::now() - 1s).owns_lock());
}

/* On a held mutex: a wait ends, and not before its time on its own clock. */
template <class Clock> void test_deadline()
{
	const auto start = Clock::now();

	EXPECT(!mutex.try_lock_until(start + 10ms));
	EXPECT(Clock::now() >= start + 10ms);
	EXPECT(!mutex.try_lock_until(start));
	EXPECT(!mutex.try_lock_until(typename Clock::time_point{}));
}

void test_timed_mutex()
{
	std::unique_lock<lockwork::mutex> held(mutex);

	in_threads(1, [](int) {
		const auto start = std::chrono::steady_clock::now();

		EXPECT(!mutex.try_lock_for(10ms));
		EXPECT(!mutex.try_lock_for(
			std::chrono::duration<float>(0.01f)));
		EXPECT(std::chrono::steady_clock::now() >= start + 19ms);
		EXPECT(!mutex.try_lock_for(-1h));
		EXPECT(!mutex.try_lock_for(0s));
		test_deadline<std::chrono::steady_clock>();
		test_deadline<std::chrono::system_clock>();
	});
	held.unlock();
	EXPECT(mutex.try_lock_for(0s));
	in_threads(1, [](int) {
		std::thread unlocks([] {
			std::this_thread::sleep_for(5ms);
			mutex.unlock();
		});
		EXPECT(mutex.try_lock_for(std::chrono::hours::max()));
		unlocks.join();
	});
	in_threads(1, [](int) {
		std::thread unlocks([] {
			std::this_thread::sleep_for(5ms);
			mutex.unlock();
		});
		EXPECT(mutex.try_lock_until(
			std::chrono::system_clock::time_point::max()));
		unlocks.join();
	});
	in_threads(1, [](int) {
		using std::chrono::system_clock;
		std::thread unlocks([] {
			std::this_thread::sleep_for(5ms);
			mutex.unlock();
		});
		/* Farther than the clock's own unit reaches. */
		EXPECT(mutex.try_lock_until(
			std::chrono::time_point<system_clock,
						std::chrono::seconds>::max()));
		unlocks.join();
	});
	mutex.unlock();
}

/* Threads take turns; Condition is ours, or the standard's for any lock. */
template <class Condition> void test_turns(Condition &condition)
{
	int turn = 0;

	in_threads(2, [&](int own) {
		for (int i = 0; i < rounds; i++) {
			std::unique_lock<lockwork::mutex> lock(mutex);

			condition.wait(lock, [&] { return turn % 2 == own; });
			EXPECT(lock.owns_lock());
			turn++;
			lock.unlock();
			condition.notify_one();
		}
	});
	EXPECT(turn == 2 * rounds);
}

template <class Clock> void test_wait_until()
{
	std::unique_lock<lockwork::mutex> lock(mutex);
	const auto end = Clock::now() + 10ms;

	while (changed.wait_until(lock, end) == std::cv_status::no_timeout)
		;
	EXPECT(Clock::now() >= end);
	EXPECT(!changed.wait_until(lock, end, [] { return false; }));
	EXPECT(changed.wait_until(lock, end, [] { return true; }));
	EXPECT(!mutex.try_lock()); /* ours again */
}

void test_wait_for()
{
	std::unique_lock<lockwork::mutex> lock(mutex);
	const auto start = std::chrono::steady_clock::now();
	bool go = false;

	EXPECT(!changed.wait_for(lock, 10ms, [] { return false; }));
	EXPECT(std::chrono::steady_clock::now() >= start + 10ms);
	(void)changed.wait_for(lock, -1s);
	std::thread other([&] {
		std::lock_guard<lockwork::mutex> held(mutex);
		go = true;
		changed.notify_all();
	});
	EXPECT(changed.wait_for(lock, 24h * 365 * 1000, [&] { return go; }));
	lock.unlock();
	other.join();
}

} // namespace

int main()
{
	std::condition_variable_any any;

	lw_profile_name(&any, "by nobody, as there is no recorder");
	test_exclusion();
	test_tries();
	test_timed_mutex();
	test_timed_shared<std::chrono::steady_clock>();
	test_timed_shared<std::chrono::system_clock>();
	test_turns(changed);
	test_turns(any);
	test_wait_until<std::chrono::steady_clock>();
	test_wait_until<std::chrono::system_clock>();
	test_wait_for();
	return 0;
}
