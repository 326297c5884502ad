// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The condition variable.
use crate::mutex::nanoseconds;
use crate::MutexGuard;
use core::fmt;
use core::time::Duration;
use lockwork_sys::{
    lw_cond_broadcast, lw_cond_signal, lw_cond_t, lw_cond_wait, lw_mutex_t, lwlib_cond_wait_for,
};

/// A condition variable for [`Mutex`](crate::Mutex): 16 bytes.
///
/// Change what is waited for under the mutex; then notify, with or without it. No
/// wake-up is lost, but a wait may also return without one: look again at what is
/// waited for, or use [`wait_while`](Self::wait_while).
///
/// ```
/// use lockwork::{Condvar, Mutex};
///
/// static READY: Mutex<bool> = Mutex::new(false);
/// static CHANGED: Condvar = Condvar::new();
///
/// let waiter = std::thread::spawn(|| {
///     let mut ready = READY.lock();
///     CHANGED.wait_while(&mut ready, |ready| !*ready);
///     assert!(*ready);
/// });
/// *READY.lock() = true;
/// CHANGED.notify_one();
/// waiter.join().unwrap();
/// ```
#[repr(transparent)]
pub struct Condvar(lw_cond_t);

/// Whether a wait ended because its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// True: the time was over. What was waited for may be there all the same.
    pub const fn timed_out(self) -> bool {
        self.0
    }
}

/// The C mutex that `guard` holds.
fn mutex_of<T: ?Sized>(guard: &mut MutexGuard<'_, T>) -> *mut lw_mutex_t {
    // SAFETY: the waits below leave the mutex as they find it, held.
    unsafe { MutexGuard::mutex(guard).raw() }.as_ptr()
}

impl Condvar {
    /// One that nobody waits on.
    pub const fn new() -> Self {
        Self(lw_cond_t::INIT)
    }

    /// The C object, for the functions of `<lockwork/lockwork.h>`.
    #[inline]
    pub const fn as_ptr(&self) -> *mut lw_cond_t {
        self.0.get()
    }

    /// Unlocks the mutex, waits for a notification or for no reason, and locks the
    /// mutex again. Waiters of one condition variable may use different mutexes.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        // SAFETY: this thread holds that mutex, and nobody borrows its data.
        unsafe { lw_cond_wait(self.as_ptr(), mutex_of(guard)) };
    }

    /// Waits as long as `condition` holds of the data.
    pub fn wait_while<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// [`wait`](Self::wait) for at most `limit`, by `CLOCK_MONOTONIC`.
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        limit: Duration,
    ) -> WaitTimeoutResult {
        // SAFETY: as in wait().
        let woken =
            unsafe { lwlib_cond_wait_for(self.as_ptr(), mutex_of(guard), nanoseconds(limit)) };
        WaitTimeoutResult(!woken)
    }

    /// [`wait`](Self::wait), at most until `deadline`.
    #[cfg(feature = "std")]
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: std::time::Instant,
    ) -> WaitTimeoutResult {
        let limit = deadline.saturating_duration_since(std::time::Instant::now());
        self.wait_for(guard, limit)
    }

    /// Wakes one waiter, if there is one.
    pub fn notify_one(&self) {
        // SAFETY: a condition variable.
        unsafe { lw_cond_signal(self.as_ptr()) };
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        // SAFETY: a condition variable.
        unsafe { lw_cond_broadcast(self.as_ptr()) };
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
