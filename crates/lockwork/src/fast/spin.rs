// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The inline functions of `locks/qspinlock.h`.
use super::word;
use super::x86_64::{mb_light, release_byte};
use core::sync::atomic::Ordering::*;
use lockwork_sys::*;

// `unlock` below is the one of the two unlocks that this is for.
const _: () = assert!(SPIN_WAITERS_HALT == 1);

/// `wait_tag()`: what a free spinlock reads.
#[inline]
fn wait_tag() -> u32 {
    // SAFETY: a C variable that lives as long as the program.
    unsafe { &lw_wait_tag }.load(Relaxed)
}

/// `lk_qspin_lock`, in the process's mode.
#[inline]
pub(crate) fn lock(s: &lw_spinlock_t) {
    // SAFETY: a field of a spinlock.
    let val = unsafe { word(s.get(), SPIN_VAL) };
    let tag = wait_tag();

    // [qspinlock.A] ACQUIRE
    if let Err(seen) = val.compare_exchange(tag, tag | SPIN_LOCKED, Acquire, Relaxed) {
        lock_slow(s, seen);
    }
}

#[cold]
fn lock_slow(s: &lw_spinlock_t, seen: u32) {
    // SAFETY: a spinlock.
    unsafe { lw_spin_lock_slow(s.get(), seen) };
}

/// `lk_qspin_trylock`; what it does after a fork is left to C.
#[inline]
pub(crate) fn try_lock(s: &lw_spinlock_t) -> bool {
    // SAFETY: a field of a spinlock.
    let val = unsafe { word(s.get(), SPIN_VAL) };
    let tag = wait_tag();

    if val.load(Relaxed) != tag {
        return try_lock_slow(s);
    }
    // [qspinlock.A] ACQUIRE
    val.compare_exchange(tag, tag | SPIN_LOCKED, Acquire, Relaxed)
        .is_ok()
}

#[cold]
fn try_lock_slow(s: &lw_spinlock_t) -> bool {
    // SAFETY: a spinlock.
    unsafe { lw_spin_trylock(s.get()) }
}

/// `lk_qspin_unlock`, where waiters halt.
///
/// # Safety
/// The caller holds `s`.
#[inline]
pub(crate) unsafe fn unlock(s: &lw_spinlock_t) {
    // [qspinlock.B] RELEASE. SAFETY: a byte of a spinlock.
    unsafe { release_byte(s.get(), SPIN_LOCKED_BYTE) };
    // [qspinlock.J] MB (light): either we see that somebody may be asleep, or
    // the head sees the lock free.
    mb_light();
    // SAFETY: a C variable that lives as long as the program.
    if unsafe { &lk_qspin_halting }.load(Relaxed) != 0 {
        kick(s);
    }
}

#[cold]
fn kick(s: &lw_spinlock_t) {
    // SAFETY: a spinlock.
    unsafe { lk_qspin_kick(s.get()) };
}
