// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The inline functions of `locks/qrwlock.h`.
use super::word;
use super::x86_64::release_byte;
use core::sync::atomic::{AtomicU32, Ordering::*};
use lockwork_sys::*;

#[inline]
fn counts(l: &lw_rwlock_t) -> &AtomicU32 {
    // SAFETY: a field of a read/write lock.
    unsafe { word(l.get(), RWLOCK_CNTS) }
}

/// `lk_qrw_read_lock`.
#[inline]
pub(crate) fn read(l: &lw_rwlock_t) {
    // [qrwlock.A] ACQUIRE
    if counts(l).fetch_add(RWLOCK_READER, Acquire) & RWLOCK_WRITER_MASK != 0 {
        read_slow(l);
    }
}

#[cold]
fn read_slow(l: &lw_rwlock_t) {
    // SAFETY: a read/write lock, and we are counted.
    unsafe { lk_qrw_read_lock_slow(l.get()) };
}

/// `lk_qrw_read_trylock`.
#[inline]
pub(crate) fn try_read(l: &lw_rwlock_t) -> bool {
    let counts = counts(l);
    let mut seen = counts.load(Relaxed);

    while seen & RWLOCK_WRITER_MASK == 0 {
        let more = seen.wrapping_add(RWLOCK_READER);
        // [qrwlock.A] ACQUIRE
        match counts.compare_exchange(seen, more, Acquire, Relaxed) {
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
pub(crate) unsafe fn unlock_read(l: &lw_rwlock_t) {
    // [qrwlock.C] RELEASE
    counts(l).fetch_sub(RWLOCK_READER, Release);
}

/// `lk_qrw_lock`.
#[inline]
pub(crate) fn write(l: &lw_rwlock_t) {
    // [qrwlock.D] ACQUIRE
    let seen = counts(l).compare_exchange(0, RWLOCK_WRITER, Acquire, Relaxed);
    if seen.is_err() {
        write_slow(l);
    }
}

#[cold]
fn write_slow(l: &lw_rwlock_t) {
    // SAFETY: a read/write lock.
    unsafe { lk_qrw_lock_slow(l.get()) };
}

/// `lk_qrw_trylock`.
#[inline]
pub(crate) fn try_write(l: &lw_rwlock_t) -> bool {
    let counts = counts(l);

    // [qrwlock.D] ACQUIRE
    counts.load(Relaxed) == 0
        && counts
            .compare_exchange(0, RWLOCK_WRITER, Acquire, Relaxed)
            .is_ok()
}

/// `lk_qrw_unlock`.
///
/// # Safety
/// The caller holds `l` alone.
#[inline]
pub(crate) unsafe fn unlock_write(l: &lw_rwlock_t) {
    // [qrwlock.B] RELEASE. SAFETY: a byte of a read/write lock.
    unsafe { release_byte(l.get(), RWLOCK_WRITER_BYTE) };
}
