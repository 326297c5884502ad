// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The sleeping mutex.
use crate::fast::{self, state};
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use lock_api::GuardNoSend;
use lockwork_sys::{lw_mutex_t, lwlib_mutex_lock_for, MUTEX_FREE, MUTEX_WORD};

/// A mutex: 24 bytes and the data.
///
/// Locking a free mutex takes one locked instruction. Waiters spin in a queue while the
/// holder runs on another CPU, then sleep; sleepers are served in order of
/// arrival, and one that was overtaken too often is handed the mutex.
///
/// ```
/// use lockwork::Mutex;
/// use std::time::Duration;
///
/// let mutex = Mutex::new(vec![1]);
/// mutex.lock().push(2);
/// {
///     let _held = mutex.lock();
///     assert!(mutex.try_lock().is_none());
///     assert!(mutex.try_lock_for(Duration::from_millis(1)).is_none());
/// }
/// assert_eq!(mutex.into_inner(), [1, 2]);
/// ```
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;

/// What [`Mutex::lock`](lock_api::Mutex::lock) returns; dropping it unlocks.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;

/// A [`MutexGuard`] of a part of the data, by `MutexGuard::map`.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// The mutex without data: `lw_mutex_t` of C, for [`lock_api::Mutex`].
///
/// It must stay where it is and allocated until `unlock` has returned in every
/// thread, which borrows see to.
#[repr(transparent)]
pub struct RawMutex(lw_mutex_t);

impl RawMutex {
    /// The C object, for the functions of `<lockwork/lockwork.h>`.
    #[inline]
    pub const fn as_ptr(&self) -> *mut lw_mutex_t {
        self.0.get()
    }
}

// SAFETY: the C mutex excludes; `unlock` is by the holder.
unsafe impl lock_api::RawMutex for RawMutex {
    // A constant, because a static item needs one; each use is a new mutex.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self(lw_mutex_t::INIT);
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        fast::mutex::lock(&self.0);
    }

    #[inline]
    fn try_lock(&self) -> bool {
        fast::mutex::try_lock(&self.0)
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller's promise.
        unsafe { fast::mutex::unlock(&self.0) }
    }

    #[inline]
    fn is_locked(&self) -> bool {
        // SAFETY: a field of a mutex.
        unsafe { state::word(self.as_ptr(), MUTEX_WORD) }.load(Relaxed) != MUTEX_FREE
    }
}

impl RawMutex {
    /// Waits at most `limit`, measured by `CLOCK_MONOTONIC`. Returns true if the caller
    /// now holds it. It may return late, by the microseconds that it spins.
    #[inline]
    pub fn lock_for(&self, limit: Duration) -> bool {
        fast::mutex::try_lock(&self.0) || self.lock_for_slow(limit)
    }

    #[cold]
    fn lock_for_slow(&self, limit: Duration) -> bool {
        // SAFETY: a mutex.
        unsafe { lwlib_mutex_lock_for(self.as_ptr(), nanoseconds(limit)) }
    }
}

/// More than 584 years are as good as 584 years.
pub(crate) fn nanoseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(feature = "std")]
// SAFETY: as above; false means not held.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = std::time::Instant;

    #[inline]
    fn try_lock_for(&self, limit: Duration) -> bool {
        self.lock_for(limit)
    }

    #[inline]
    fn try_lock_until(&self, deadline: std::time::Instant) -> bool {
        fast::mutex::try_lock(&self.0)
            || self.lock_for_slow(deadline.saturating_duration_since(std::time::Instant::now()))
    }
}
