// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The sleeping read/write lock.
use crate::fast::{self, state};
use crate::mutex::nanoseconds;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::time::Duration;
use lock_api::GuardNoSend;
use lockwork_sys::{
    lw_read_lock_nested, lw_read_trylock_nested, lw_rwlock_t, lw_write_downgrade,
    lwlib_read_lock_for, lwlib_write_lock_for, RWLOCK_READER, RWLOCK_WORD, RWLOCK_WRITER,
};

/// A read/write lock: 24 bytes and the data.
///
/// Waiters spin in a queue while a writer runs on another CPU, then sleep. Sleepers are
/// served in order of arrival, and readers that sleep are let in together. Arrivals may
/// pass the first sleeper; once that was overtaken too often, or has slept for a
/// millisecond, they queue behind it. If the readers that hold the lock have not left after
/// another 20 ms, those that have queued are let in, too; and so again after 40 ms, doubling to
/// 640.
///
/// A thread that reads must use [`read_recursive`](lock_api::RwLock::read_recursive) to
/// read-lock again. With [`read`](lock_api::RwLock::read) it may wait behind a writer
/// that waits for it; that wait ends with the writer's 20 to 640 ms.
///
/// ```
/// use lockwork::{RwLock, RwLockWriteGuard};
/// use std::time::Duration;
///
/// let lock = RwLock::new(String::from("a"));
/// lock.write().push('b');
/// {
///     let first = lock.read();
///     let second = lock.try_read().expect("readers share");
///     assert_eq!(*first, *second);
///     assert!(lock.try_write().is_none());
///     assert!(lock.try_write_for(Duration::from_millis(1)).is_none());
/// }
/// let writer = lock.write();
/// let reader = RwLockWriteGuard::downgrade(writer);
/// assert_eq!(*reader, *lock.read_recursive());
/// ```
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;

/// What [`RwLock::read`](lock_api::RwLock::read) returns; dropping it unlocks.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;

/// What [`RwLock::write`](lock_api::RwLock::write) returns; dropping it unlocks.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;

/// An [`RwLockReadGuard`] of a part of the data, by `RwLockReadGuard::map`.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;

/// An [`RwLockWriteGuard`] of a part of the data, by `RwLockWriteGuard::map`.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// The read/write lock without data: `lw_rwlock_t` of C, for [`lock_api::RwLock`].
#[repr(transparent)]
pub struct RawRwLock(lw_rwlock_t);

impl RawRwLock {
    /// The C object, for the functions of `<lockwork/lockwork.h>`.
    #[inline]
    pub const fn as_ptr(&self) -> *mut lw_rwlock_t {
        self.0.get()
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: a field of a read/write lock.
        unsafe { state::word(self.as_ptr(), RWLOCK_WORD) }
    }

    fn state(&self) -> u32 {
        self.word().load(Relaxed)
    }

    /// Waits at most `limit`, measured by `CLOCK_MONOTONIC`. Returns true if the caller
    /// now holds it shared. It may return late, by the microseconds that it spins.
    #[inline]
    pub fn lock_shared_for(&self, limit: Duration) -> bool {
        fast::rw::try_read(&self.0) || self.lock_shared_for_slow(limit)
    }

    #[cold]
    fn lock_shared_for_slow(&self, limit: Duration) -> bool {
        state::not_too_many(self.word(), state::TOO_MANY_READ);
        // SAFETY: a read/write lock.
        unsafe { lwlib_read_lock_for(self.as_ptr(), nanoseconds(limit)) }
    }

    /// As [`lock_shared_for`](Self::lock_shared_for), for an exclusive hold.
    #[inline]
    pub fn lock_exclusive_for(&self, limit: Duration) -> bool {
        fast::rw::try_write(&self.0) || self.lock_exclusive_for_slow(limit)
    }

    #[cold]
    fn lock_exclusive_for_slow(&self, limit: Duration) -> bool {
        // SAFETY: a read/write lock.
        unsafe { lwlib_write_lock_for(self.as_ptr(), nanoseconds(limit)) }
    }
}

// SAFETY: the C lock excludes writers from all others; the unlocks are by who
// holds it.
unsafe impl lock_api::RawRwLock for RawRwLock {
    // A constant, because a static item needs one; each use is a new lock.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self(lw_rwlock_t::INIT);
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock_shared(&self) {
        fast::rw::read(&self.0);
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        fast::rw::try_read(&self.0)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller's promise.
        unsafe { fast::rw::unlock_read(&self.0) }
    }

    #[inline]
    fn lock_exclusive(&self) {
        fast::rw::write(&self.0);
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        fast::rw::try_write(&self.0)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: the caller's promise.
        unsafe { fast::rw::unlock_write(&self.0) }
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.state() & RWLOCK_WRITER != 0 || self.state() >= RWLOCK_READER
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.state() & RWLOCK_WRITER != 0
    }
}

// SAFETY: the C lock lets such a reader in beside any other.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    #[inline]
    fn lock_shared_recursive(&self) {
        state::not_too_many(self.word(), state::TOO_MANY_READ);
        // SAFETY: a read/write lock.
        unsafe { lw_read_lock_nested(self.as_ptr()) }
    }

    #[inline]
    fn try_lock_shared_recursive(&self) -> bool {
        let are_too_many = state::are_too_many(self.word(), state::TOO_MANY_READ);
        // SAFETY: a read/write lock.
        !are_too_many && unsafe { lw_read_trylock_nested(self.as_ptr()) }
    }
}

// SAFETY: no writer is in between.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds it alone.
        unsafe { lw_write_downgrade(self.as_ptr()) }
    }
}

#[cfg(feature = "std")]
// SAFETY: as above; false means not held.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = std::time::Instant;

    #[inline]
    fn try_lock_shared_for(&self, limit: Duration) -> bool {
        self.lock_shared_for(limit)
    }

    #[inline]
    fn try_lock_shared_until(&self, deadline: std::time::Instant) -> bool {
        fast::rw::try_read(&self.0)
            || self
                .lock_shared_for_slow(deadline.saturating_duration_since(std::time::Instant::now()))
    }

    #[inline]
    fn try_lock_exclusive_for(&self, limit: Duration) -> bool {
        self.lock_exclusive_for(limit)
    }

    #[inline]
    fn try_lock_exclusive_until(&self, deadline: std::time::Instant) -> bool {
        fast::rw::try_write(&self.0)
            || self.lock_exclusive_for_slow(
                deadline.saturating_duration_since(std::time::Instant::now()),
            )
    }
}
