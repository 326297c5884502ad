// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The inline functions of `locks/qrwlock.h`.
use super::state::{too_many_readers, word, TOO_MANY_SPIN_READ};
use super::x86_64::release_byte;
use core::sync::atomic::{AtomicU32, Ordering::*};
use lockwork_sys::*;

#[inline]
fn state(l: &lw_spin_rwlock_t) -> &AtomicU32 {
    // SAFETY: a field of a read/write spinlock.
    unsafe { word(l.get(), SPIN_RWLOCK_STATE) }
}

/// `lk_qrw_read_lock`.
#[inline]
pub(crate) fn read(l: &lw_spin_rwlock_t) {
    // [qrwlock.A] ACQUIRE
    let seen = state(l).fetch_add(SPIN_RWLOCK_READER, Acquire);
    if seen & (SPIN_RWLOCK_CLOSED | TOO_MANY_SPIN_READ) != 0 {
        read_slow(l, seen);
    }
}

#[cold]
fn read_slow(l: &lw_spin_rwlock_t, seen: u32) {
    if seen & TOO_MANY_SPIN_READ != 0 {
        state(l).fetch_sub(SPIN_RWLOCK_READER, Relaxed);
        too_many_readers();
    }
    // SAFETY: a read/write spinlock, and we are counted.
    unsafe { lk_qrw_read_lock_slow(l.get()) };
}

/// `lk_qrw_read_trylock`.
#[inline]
pub(crate) fn try_read(l: &lw_spin_rwlock_t) -> bool {
    let state = state(l);
    let mut seen = state.load(Relaxed);

    while seen & (SPIN_RWLOCK_CLOSED | TOO_MANY_SPIN_READ) == 0 {
        let more = seen.wrapping_add(SPIN_RWLOCK_READER);
        // [qrwlock.A] ACQUIRE
        match state.compare_exchange(seen, more, Acquire, Relaxed) {
            Ok(_) => return true,
            Err(now) => seen = now,
        }
    }
    false
}

/// `lk_qrw_read_unlock`.
///
/// # Safety
/// The caller holds `l` shared.
#[inline]
pub(crate) unsafe fn unlock_read(l: &lw_spin_rwlock_t) {
    // [qrwlock.C] RELEASE
    state(l).fetch_sub(SPIN_RWLOCK_READER, Release);
}

/// `lk_qrw_take_free`.
#[inline]
fn take_free(l: &lw_spin_rwlock_t) -> bool {
    // [qrwlock.D] ACQUIRE
    state(l)
        .compare_exchange(0, SPIN_RWLOCK_HELD, Acquire, Relaxed)
        .is_ok()
}

/// `lk_qrw_lock`.
#[inline]
pub(crate) fn write(l: &lw_spin_rwlock_t) {
    if !take_free(l) {
        write_slow(l);
    }
}

#[cold]
fn write_slow(l: &lw_spin_rwlock_t) {
    // SAFETY: a read/write spinlock.
    unsafe { lk_qrw_lock_slow(l.get()) };
}

/// `lk_qrw_trylock`.
#[inline]
pub(crate) fn try_write(l: &lw_spin_rwlock_t) -> bool {
    state(l).load(Relaxed) == 0 && take_free(l)
}

/// `lk_qrw_unlock`.
///
/// # Safety
/// The caller holds `l` alone.
#[inline]
pub(crate) unsafe fn unlock_write(l: &lw_spin_rwlock_t) {
    // [qrwlock.B] RELEASE. SAFETY: a byte of a read/write spinlock.
    unsafe { release_byte(l.get(), SPIN_RWLOCK_HELD_BYTE) };
}
