// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The inline functions of `locks/rwsem.h`.
use super::state::{not_too_many, word, TOO_MANY_READ};
use super::x86_64::leave_owner;
use core::sync::atomic::{AtomicU32, Ordering::*};
use lockwork_sys::*;

#[inline]
fn state(l: &lw_rwlock_t) -> &AtomicU32 {
    // SAFETY: a field of a read/write lock.
    unsafe { word(l.get(), RWLOCK_WORD) }
}

#[inline]
fn set_owner(l: &lw_rwlock_t) {
    // SAFETY: as above.
    leave_owner(unsafe { word(l.get(), RWLOCK_OWNER) });
}

/// `lk_rwsem_read_trylock`, for a reader that passes sleepers; false also if too many read.
#[inline]
fn read_fast(l: &lw_rwlock_t) -> bool {
    let state = state(l);
    let mut seen = state.load(Relaxed);

    while seen & (RWLOCK_WRITER | RWLOCK_HANDOFF | TOO_MANY_READ) == 0 {
        // [rwsem.E] ACQUIRE
        match state.compare_exchange(seen, seen.wrapping_add(RWLOCK_READER), Acquire, Relaxed) {
            Ok(_) => return true,
            Err(now) => seen = now,
        }
    }
    false
}

/// `lk_rwsem_read_lock`.
#[inline]
pub(crate) fn read(l: &lw_rwlock_t) {
    if !read_fast(l) {
        read_slow(l);
    }
}

#[cold]
fn read_slow(l: &lw_rwlock_t) {
    not_too_many(state(l), TOO_MANY_READ);
    // SAFETY: a read/write lock.
    unsafe { lwlib_read_lock_slow(l.get()) };
}

/// `lk_rwsem_try_read`, for a reader that passes sleepers. A free lock is taken also if it is
/// promised to one of them.
#[inline]
pub(crate) fn try_read(l: &lw_rwlock_t) -> bool {
    read_fast(l) || (check_epoch(l) && (read_fast(l) || lock_if(l, MARKS, RWLOCK_READER)))
}

/// All that waiters leave in the word.
const MARKS: u32 = RWLOCK_QUEUED | RWLOCK_HANDOFF | RWLOCK_LOOK;

/// Adds `what` to a word that has no bits but those of `marks`.
#[inline]
fn lock_if(l: &lw_rwlock_t, marks: u32, what: u32) -> bool {
    let state = state(l);
    let mut seen = state.load(Relaxed);

    while seen & !marks == 0 {
        // [rwsem.A], [rwsem.E] ACQUIRE
        match state.compare_exchange(seen, seen + what, Acquire, Relaxed) {
            Ok(_) => return true,
            Err(now) => seen = now,
        }
    }
    false
}

/// Always true.
#[cold]
fn check_epoch(l: &lw_rwlock_t) -> bool {
    // SAFETY: a read/write lock.
    unsafe { lk_rwsem_check_epoch(l.get()) };
    true
}

/// `lk_rwsem_read_unlock`.
///
/// # Safety
/// The caller holds `l` shared.
#[inline]
pub(crate) unsafe fn unlock_read(l: &lw_rwlock_t) {
    let state = state(l);
    let mut seen = state.load(Relaxed);

    // Nobody to look after, or others read on: their unlocks will look.
    while seen & RWLOCK_LOOK == 0 || seen / RWLOCK_READER > 1 {
        // [rwsem.C] RELEASE
        match state.compare_exchange(seen, seen.wrapping_sub(RWLOCK_READER), Release, Relaxed) {
            Ok(_) => return,
            Err(now) => seen = now,
        }
    }
    unlock_slow(l, RWLOCK_READER);
}

#[cold]
fn unlock_slow(l: &lw_rwlock_t, what: u32) {
    // SAFETY: a read/write lock, held as `what` says.
    unsafe { lk_rwsem_unlock_slow(l.get(), what) };
}

/// `lk_rwsem_lock`.
#[inline]
pub(crate) fn write(l: &lw_rwlock_t) {
    if !write_fast(l) {
        write_slow(l);
    }
}

/// `lk_rwsem_lock_fast`: one CAS with no read before it, so that the line comes
/// over once, exclusive.
#[inline]
fn write_fast(l: &lw_rwlock_t) -> bool {
    // [rwsem.A] ACQUIRE
    let seen = state(l).compare_exchange(0, RWLOCK_WRITER, Acquire, Relaxed);
    if seen.is_err() {
        return false;
    }
    set_owner(l);
    true
}

#[cold]
fn write_slow(l: &lw_rwlock_t) {
    // SAFETY: a read/write lock.
    unsafe { lwlib_write_lock_slow(l.get()) };
}

/// `lk_rwsem_lock_if`.
#[inline]
fn write_if(l: &lw_rwlock_t, marks: u32) -> bool {
    let taken = lock_if(l, marks, RWLOCK_WRITER);

    if taken {
        set_owner(l);
    }
    taken
}

/// `lk_rwsem_try_write`. A free lock is taken also if it is promised to a sleeper.
#[inline]
pub(crate) fn try_write(l: &lw_rwlock_t) -> bool {
    write_if(l, RWLOCK_QUEUED | RWLOCK_LOOK) || (check_epoch(l) && write_if(l, MARKS))
}

/// `lk_rwsem_unlock`.
///
/// # Safety
/// The caller holds `l` alone.
#[inline]
pub(crate) unsafe fn unlock_write(l: &lw_rwlock_t) {
    let state = state(l);
    let mut seen = RWLOCK_WRITER;

    loop {
        // [rwsem.B] RELEASE
        match state.compare_exchange(seen, seen.wrapping_sub(RWLOCK_WRITER), Release, Relaxed) {
            Ok(_) => return,
            Err(now) => seen = now,
        }
        if seen & RWLOCK_LOOK != 0 {
            break;
        }
    }
    unlock_slow(l, RWLOCK_WRITER);
}
