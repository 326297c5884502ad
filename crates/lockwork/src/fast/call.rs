// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! No fast path in Rust: every operation is a call of `<lockwork/lockwork.h>`.

/// The mutex.
pub(crate) mod mutex {
    use lockwork_sys::*;

    /// `lw_mutex_lock`.
    pub(crate) fn lock(m: &lw_mutex_t) {
        // SAFETY: a mutex.
        unsafe { lw_mutex_lock(m.get()) };
    }

    /// `lw_mutex_trylock`.
    pub(crate) fn try_lock(m: &lw_mutex_t) -> bool {
        // SAFETY: a mutex.
        unsafe { lw_mutex_trylock(m.get()) }
    }

    /// `lw_mutex_unlock`.
    ///
    /// # Safety
    /// The caller holds `m`.
    pub(crate) unsafe fn unlock(m: &lw_mutex_t) {
        // SAFETY: the caller's promise.
        unsafe { lw_mutex_unlock(m.get()) };
    }
}

/// The spinlock.
pub(crate) mod spin {
    use lockwork_sys::*;

    /// `lw_spin_lock`.
    pub(crate) fn lock(s: &lw_spinlock_t) {
        // SAFETY: a spinlock.
        unsafe { lw_spin_lock(s.get()) };
    }

    /// `lw_spin_trylock`.
    pub(crate) fn try_lock(s: &lw_spinlock_t) -> bool {
        // SAFETY: a spinlock.
        unsafe { lw_spin_trylock(s.get()) }
    }

    /// `lw_spin_unlock`.
    ///
    /// # Safety
    /// The caller holds `s`.
    pub(crate) unsafe fn unlock(s: &lw_spinlock_t) {
        // SAFETY: the caller's promise.
        unsafe { lw_spin_unlock(s.get()) };
    }
}

/// The read/write lock.
pub(crate) mod rw {
    use crate::fast::state::{are_too_many, not_too_many, word, TOO_MANY_READ};
    use lockwork_sys::*;

    /// `lw_read_lock`.
    pub(crate) fn read(l: &lw_rwlock_t) {
        // SAFETY: a read/write lock.
        unsafe {
            not_too_many(word(l.get(), RWLOCK_WORD), TOO_MANY_READ);
            lw_read_lock(l.get());
        }
    }

    /// `lw_read_trylock`.
    pub(crate) fn try_read(l: &lw_rwlock_t) -> bool {
        // SAFETY: a read/write lock.
        unsafe {
            !are_too_many(word(l.get(), RWLOCK_WORD), TOO_MANY_READ) && lw_read_trylock(l.get())
        }
    }

    /// `lw_read_unlock`.
    ///
    /// # Safety
    /// The caller holds `l` shared.
    pub(crate) unsafe fn unlock_read(l: &lw_rwlock_t) {
        // SAFETY: the caller's promise.
        unsafe { lw_read_unlock(l.get()) };
    }

    /// `lw_write_lock`.
    pub(crate) fn write(l: &lw_rwlock_t) {
        // SAFETY: a read/write lock.
        unsafe { lw_write_lock(l.get()) };
    }

    /// `lw_write_trylock`.
    pub(crate) fn try_write(l: &lw_rwlock_t) -> bool {
        // SAFETY: a read/write lock.
        unsafe { lw_write_trylock(l.get()) }
    }

    /// `lw_write_unlock`.
    ///
    /// # Safety
    /// The caller holds `l` alone.
    pub(crate) unsafe fn unlock_write(l: &lw_rwlock_t) {
        // SAFETY: the caller's promise.
        unsafe { lw_write_unlock(l.get()) };
    }
}

/// The read/write spinlock.
pub(crate) mod spin_rw {
    use crate::fast::state::{are_too_many, not_too_many, word, TOO_MANY_SPIN_READ};
    use lockwork_sys::*;

    /// `lw_spin_read_lock`.
    pub(crate) fn read(l: &lw_spin_rwlock_t) {
        // SAFETY: a read/write spinlock.
        unsafe {
            not_too_many(word(l.get(), SPIN_RWLOCK_STATE), TOO_MANY_SPIN_READ);
            lw_spin_read_lock(l.get());
        }
    }

    /// `lw_spin_read_trylock`.
    pub(crate) fn try_read(l: &lw_spin_rwlock_t) -> bool {
        // SAFETY: a read/write spinlock.
        unsafe {
            !are_too_many(word(l.get(), SPIN_RWLOCK_STATE), TOO_MANY_SPIN_READ)
                && lw_spin_read_trylock(l.get())
        }
    }

    /// `lw_spin_read_unlock`.
    ///
    /// # Safety
    /// The caller holds `l` shared.
    pub(crate) unsafe fn unlock_read(l: &lw_spin_rwlock_t) {
        // SAFETY: the caller's promise.
        unsafe { lw_spin_read_unlock(l.get()) };
    }

    /// `lw_spin_write_lock`.
    pub(crate) fn write(l: &lw_spin_rwlock_t) {
        // SAFETY: a read/write spinlock.
        unsafe { lw_spin_write_lock(l.get()) };
    }

    /// `lw_spin_write_trylock`.
    pub(crate) fn try_write(l: &lw_spin_rwlock_t) -> bool {
        // SAFETY: a read/write spinlock.
        unsafe { lw_spin_write_trylock(l.get()) }
    }

    /// `lw_spin_write_unlock`.
    ///
    /// # Safety
    /// The caller holds `l` alone.
    pub(crate) unsafe fn unlock_write(l: &lw_spin_rwlock_t) {
        // SAFETY: the caller's promise.
        unsafe { lw_spin_write_unlock(l.get()) };
    }
}
