// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The same as calls.c, for the classes of lockwork.hpp. Nothing may be said of the header itself. */
#include <lockwork/lockwork.hpp>
#include <shared_mutex>

using namespace std::chrono_literals;

template <class Exclusive> struct guarded {
	Exclusive lock;
	int value LW_GUARDED_BY(lock) = 0;

	void right()
	{
		lock.lock();
		value++;
		lock.unlock();
		if (lock.try_lock()) {
			value++;
			lock.unlock();
		}
	}

	void wrong()
	{
		// expected-warning@+1 4 {{writing variable 'value' requires}}
		value++;
	}
};

template struct guarded<lockwork::mutex>;
template struct guarded<lockwork::spinlock>;
template struct guarded<lockwork::shared_mutex>;
template struct guarded<lockwork::spin_shared_mutex>;

template <class Shared> int shared(guarded<Shared> &by)
{
	by.lock.lock_shared();
	int seen = by.value;
	by.lock.unlock_shared();
	if (by.lock.try_lock_shared()) {
		seen += by.value;
		by.lock.unlock_shared();
	}
	by.lock.lock_shared();
	// expected-warning@+1 2 {{writing variable 'value' requires}}
	by.value++;
	by.lock.unlock_shared();
	return seen;
}

template int shared(guarded<lockwork::shared_mutex> &);
template int shared(guarded<lockwork::spin_shared_mutex> &);

template <class Timed> void timed(guarded<Timed> &by)
{
	const auto now = std::chrono::system_clock::now();

	if (by.lock.try_lock_for(5ms)) {
		by.value++;
		by.lock.unlock();
	}
	if (by.lock.try_lock_until(now + 5ms)) {
		by.value++;
		by.lock.unlock();
	}
	if (by.lock.try_lock_until(std::chrono::steady_clock::now())) {
		by.value++;
		by.lock.unlock();
	}
}

template void timed(guarded<lockwork::mutex> &);
template void timed(guarded<lockwork::shared_mutex> &);

int readers(guarded<lockwork::shared_mutex> &by)
{
	int seen = 0;

	if (by.lock.try_lock_shared_for(5ms)) {
		seen = by.value;
		by.lock.unlock_shared();
	}
	if (by.lock.try_lock_shared_until(std::chrono::system_clock::now())) {
		seen = by.value;
		by.lock.unlock_shared();
	}
	by.lock.lock();
	by.value++;
	by.lock.downgrade();
	seen += by.value;
	by.lock.unlock_shared();
	return seen;
}

void waits(lockwork::mutex &mutex, lockwork::condition_variable &ready)
{
	std::unique_lock<lockwork::mutex> lock(mutex);

	ready.wait(lock, [] { return true; });
	ready.wait_for(lock, 5ms);
	ready.wait_until(lock, std::chrono::system_clock::now());
}

void left_locked(lockwork::mutex &mutex)
{
	mutex.lock();
	// expected-warning@+1 {{mutex 'mutex' is still held}}
}
