// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The inline functions of `locks/mutex.h`.
use super::state::word;
use super::x86_64::{byte, leave_owner, mb_light};
use core::sync::atomic::Ordering::*;
use lockwork_sys::*;

// `unlock` below is the one of the two unlocks that this is for.
const _: () = assert!(MUTEX_OUTLIVES_UNLOCK == 1);

/// `lk_mutex_lock`.
#[inline]
pub(crate) fn lock(m: &lw_mutex_t) {
    if !lock_fast(m) {
        lock_slow(m);
    }
}

/// `lk_mutex_lock_fast`: one CAS with no read before it, so that the line comes
/// over once, exclusive.
#[inline]
fn lock_fast(m: &lw_mutex_t) -> bool {
    let m = m.get();
    // SAFETY: fields of a mutex.
    let (word, owner) = unsafe { (word(m, MUTEX_WORD), word(m, MUTEX_OWNER)) };

    // [mutex.A] ACQUIRE
    let seen = word.compare_exchange(MUTEX_FREE, MUTEX_HELD, Acquire, Relaxed);
    if seen.is_err() {
        return false;
    }
    leave_owner(owner);
    true
}

#[cold]
fn lock_slow(m: &lw_mutex_t) {
    // SAFETY: a mutex.
    unsafe { lwlib_mutex_lock_slow(m.get()) };
}

/// `lk_mutex_trylock`.
#[inline]
pub(crate) fn try_lock(m: &lw_mutex_t) -> bool {
    // SAFETY: a field of a mutex.
    unsafe { word(m.get(), MUTEX_WORD) }.load(Relaxed) == MUTEX_FREE && lock_fast(m)
}

/// `lk_mutex_unlock`, where the mutex outlives the call.
///
/// # Safety
/// The caller holds `m`.
#[inline]
pub(crate) unsafe fn unlock(m: &lw_mutex_t) {
    let m = m.get();
    // SAFETY: fields of a mutex.
    let (parked, passed) = unsafe { (byte(m, MUTEX_PARKED), byte(m, MUTEX_PASSED)) };

    // Not the word: to load what a locked RMW just wrote costs.
    if u32::from(passed.load(Relaxed)) & MUTEX_PROMISED != 0 {
        return unlock_slow(m);
    }
    // [mutex.B] RELEASE. SAFETY: a field of a mutex.
    unsafe { word(m, MUTEX_WORD) }.store(MUTEX_FREE, Release);
    // [mutex.D] MB (light): either we see parked, or the sleeper sees the word free.
    mb_light();
    if parked.load(Relaxed) != 0 {
        wake(m);
    }
}

#[cold]
fn unlock_slow(m: *mut lw_mutex_t) {
    // SAFETY: a mutex that the caller holds.
    unsafe { lk_mutex_unlock_slow(m) };
}

#[cold]
fn wake(m: *mut lw_mutex_t) {
    // SAFETY: a mutex.
    unsafe { lk_mutex_wake(m) };
}
