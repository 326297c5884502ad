// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The queued read/write spinlock.
use crate::fast::{self, state};
use core::sync::atomic::Ordering::Relaxed;
use lock_api::GuardNoSend;
use lockwork_sys::{lw_spin_rwlock_t, SPIN_RWLOCK_DRAINING, SPIN_RWLOCK_HELD, SPIN_RWLOCK_STATE};

/// A queued read/write spinlock: 8 bytes and the data. Its waiters spin.
///
/// Waiters are served in FIFO order; readers that are next to each other in the queue
/// hold it together. An arrival may take a free lock before the next waiter does, once
/// for each waiter.
/// A thread that reads must not read-lock again: it would queue behind a writer
/// that waits for it. There are no timed waits.
///
/// ```
/// use lockwork::SpinRwLock;
///
/// let lock = SpinRwLock::new(String::from("a"));
/// lock.write().push('b');
/// {
///     let first = lock.read();
///     let second = lock.try_read().expect("readers share");
///     assert_eq!(*first, *second);
///     assert!(lock.try_write().is_none());
/// }
/// assert_eq!(lock.into_inner(), "ab");
/// ```
pub type SpinRwLock<T> = lock_api::RwLock<RawSpinRwLock, T>;

/// What [`SpinRwLock::read`](lock_api::RwLock::read) returns; dropping it unlocks.
pub type SpinRwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawSpinRwLock, T>;

/// What [`SpinRwLock::write`](lock_api::RwLock::write) returns; dropping it unlocks.
pub type SpinRwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawSpinRwLock, T>;

/// A [`SpinRwLockReadGuard`] of a part of the data, by `SpinRwLockReadGuard::map`.
pub type MappedSpinRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawSpinRwLock, T>;

/// A [`SpinRwLockWriteGuard`] of a part of the data, by `SpinRwLockWriteGuard::map`.
pub type MappedSpinRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawSpinRwLock, T>;

/// The read/write spinlock without data: `lw_spin_rwlock_t` of C, for [`lock_api::RwLock`].
#[repr(transparent)]
pub struct RawSpinRwLock(lw_spin_rwlock_t);

impl RawSpinRwLock {
    /// The C object, for the functions of `<lockwork/lockwork.h>`.
    #[inline]
    pub const fn as_ptr(&self) -> *mut lw_spin_rwlock_t {
        self.0.get()
    }

    fn state(&self) -> u32 {
        // SAFETY: a field of a read/write spinlock.
        unsafe { state::word(self.as_ptr(), SPIN_RWLOCK_STATE) }.load(Relaxed)
    }
}

// SAFETY: the C lock excludes writers from all others; the unlocks are by who
// holds it.
unsafe impl lock_api::RawRwLock for RawSpinRwLock {
    // A constant, because a static item needs one; each use is a new lock.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self(lw_spin_rwlock_t::INIT);
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock_shared(&self) {
        fast::spin_rw::read(&self.0);
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        fast::spin_rw::try_read(&self.0)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller's promise.
        unsafe { fast::spin_rw::unlock_read(&self.0) }
    }

    #[inline]
    fn lock_exclusive(&self) {
        fast::spin_rw::write(&self.0);
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        fast::spin_rw::try_write(&self.0)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: the caller's promise.
        unsafe { fast::spin_rw::unlock_write(&self.0) }
    }

    /// A reader that is about to queue is counted for a moment.
    #[inline]
    fn is_locked(&self) -> bool {
        self.state() & !SPIN_RWLOCK_DRAINING != 0
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.state() & SPIN_RWLOCK_HELD != 0
    }
}
