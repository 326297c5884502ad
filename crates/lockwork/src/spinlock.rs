// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The queued spinlock.
use crate::fast::{self, state};
use core::sync::atomic::Ordering::Relaxed;
use lock_api::GuardNoSend;
use lockwork_sys::{lw_spinlock_t, SPIN_LOCKED_MASK, SPIN_VAL};

/// A queued spinlock: 4 bytes and the data.
///
/// For sections of some hundred nanoseconds. Its mode is one for the process:
/// [`set_spin_mode`](crate::set_spin_mode). The default is
/// [`SpinMode::Auto`](crate::SpinMode::Auto), which promises no order: arrivals are
/// served in order on a machine with a CPU for each thread. On a virtual machine, and
/// while there are more threads than CPUs, an arrival may take a free lock past the
/// queue. [`SpinMode::Fair`](crate::SpinMode::Fair) keeps the order everywhere.
///
/// `try_lock` keeps the rule of the mode: it fails while others wait where the mode
/// keeps the order, and takes a free lock past them where arrivals may.
///
/// ```
/// use lockwork::SpinLock;
///
/// static LAST: SpinLock<Option<u32>> = SpinLock::new(None);
///
/// *LAST.lock() = Some(7);
/// assert_eq!(LAST.try_lock().as_deref(), Some(&Some(7)));
/// assert!(!LAST.is_locked());
/// ```
pub type SpinLock<T> = lock_api::Mutex<RawSpinLock, T>;

/// What [`SpinLock::lock`](lock_api::Mutex::lock) returns; dropping it unlocks.
pub type SpinLockGuard<'a, T> = lock_api::MutexGuard<'a, RawSpinLock, T>;

/// A [`SpinLockGuard`] of a part of the data, by `SpinLockGuard::map`.
pub type MappedSpinLockGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawSpinLock, T>;

/// The spinlock without data: `lw_spinlock_t` of C, for [`lock_api::Mutex`].
#[repr(transparent)]
pub struct RawSpinLock(lw_spinlock_t);

impl RawSpinLock {
    /// The C object, for the functions of `<lockwork/lockwork.h>`.
    #[inline]
    pub const fn as_ptr(&self) -> *mut lw_spinlock_t {
        self.0.get()
    }
}

// SAFETY: the C spinlock excludes; `unlock` is by the holder.
unsafe impl lock_api::RawMutex for RawSpinLock {
    // A constant, because a static item needs one; each use is a new lock.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self(lw_spinlock_t::INIT);
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        fast::spin::lock(&self.0);
    }

    #[inline]
    fn try_lock(&self) -> bool {
        fast::spin::try_lock(&self.0)
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller's promise.
        unsafe { fast::spin::unlock(&self.0) }
    }

    #[inline]
    fn is_locked(&self) -> bool {
        // SAFETY: a field of a spinlock.
        let val = unsafe { state::word(self.as_ptr(), SPIN_VAL) }.load(Relaxed);
        val & SPIN_LOCKED_MASK != 0
    }
}
