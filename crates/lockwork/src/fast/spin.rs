// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The inline functions of `locks/qspinlock.h`.
use super::state::word;
use super::x86_64::{exchange_half, mb_light, release_byte};
use core::sync::atomic::Ordering::*;
use lockwork_sys::*;

// `unlock` below is the one of the two unlocks that this is for.
const _: () = assert!(SPIN_WAITERS_HALT == 1);

/// `wait_tag()`: what a free spinlock reads.
#[inline]
fn wait_tag() -> u32 {
    // SAFETY: a C variable that lives as long as the program.
    unsafe { &lkp_wait_tag }.load(Relaxed)
}

/// `lk_qspin_steals`, of the process's mode.
#[inline]
fn steals() -> bool {
    // SAFETY: a C variable that lives as long as the program.
    let mode = unsafe { &lwlib_spin_mode }.load(Relaxed);
    matches!(mode, SPIN_MODE_STEAL | SPIN_MODE_TAS | SPIN_MODE_PV)
}

/// `lk_qspin_take_half`: what the locked half was, if it was not `tag`.
#[inline]
fn take_half(s: &lw_spinlock_t, tag: u32) -> Result<(), u32> {
    let (free, held) = (tag as u16, (tag | SPIN_LOCKED) as u16);
    // [qspinlock.C] ACQUIRE. SAFETY: half of a spinlock's word.
    let seen = unsafe { exchange_half(s.get(), SPIN_LOCKED_HALF, free, held) };
    if seen == free {
        Ok(())
    } else {
        Err(seen.into())
    }
}

/// `lk_qspin_take_word`: what the word was, if it was not `tag`.
#[inline]
fn take_word(s: &lw_spinlock_t, tag: u32) -> Result<(), u32> {
    // SAFETY: a field of a spinlock.
    let val = unsafe { word(s.get(), SPIN_VAL) };
    // [qspinlock.A] ACQUIRE
    val.compare_exchange(tag, tag | SPIN_LOCKED, Acquire, Relaxed)
        .map(|_| ())
}

/// `lk_qspin_lock`, in the process's mode.
#[inline]
pub(crate) fn lock(s: &lw_spinlock_t) {
    let tag = wait_tag();
    let taken = if steals() {
        take_half(s, tag)
    } else {
        take_word(s, tag)
    };
    if let Err(seen) = taken {
        lock_slow(s, seen);
    }
}

#[cold]
fn lock_slow(s: &lw_spinlock_t, seen: u32) {
    // SAFETY: a spinlock.
    unsafe { lwlib_spin_lock_slow(s.get(), seen) };
}

/// `lk_qspin_trylock`; all that its first attempt does not get is left to C.
#[inline]
pub(crate) fn try_lock(s: &lw_spinlock_t) -> bool {
    // SAFETY: a field of a spinlock.
    let val = unsafe { word(s.get(), SPIN_VAL) }.load(Relaxed);
    let tag = wait_tag();
    let taken = if steals() {
        val as u16 == tag as u16 && take_half(s, tag).is_ok()
    } else {
        val == tag && take_word(s, tag).is_ok()
    };
    taken || try_lock_slow(s)
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
