// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One simulated word: a loom atomic of the width that C uses.
use loom::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicU8};
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed};

/// A word of 1, 2, 4 or 8 bytes, or of an odd number of bytes up to 8.
pub(crate) enum Word {
    W8(UnsafeCell<AtomicU8>),
    W16(UnsafeCell<AtomicU16>),
    W32(UnsafeCell<AtomicU32>),
    W64(UnsafeCell<AtomicU64>),
}

macro_rules! each {
    ($word:expr, $atomic:ident => $body:expr) => {
        match $word {
            Word::W8($atomic) => each!(@ $atomic, u8, $body),
            Word::W16($atomic) => each!(@ $atomic, u16, $body),
            Word::W32($atomic) => each!(@ $atomic, u32, $body),
            Word::W64($atomic) => each!(@ $atomic, u64, $body),
        }
    };
    (@ $atomic:ident, $int:ty, $body:expr) => {{
        // SAFETY: threads are coroutines of one OS thread, and only
        // `set_plain` makes a `&mut`, within which no other one runs.
        let $atomic = unsafe { &*$atomic.get() };
        #[allow(dead_code)]
        type Int = $int;
        $body
    }};
}

// One arm of each match converts from u64 itself.
#[allow(clippy::useless_conversion)]
impl Word {
    /// A word of `len` bytes.
    pub fn new(len: u64, value: u64) -> Self {
        match len {
            1 => Word::W8(UnsafeCell::new(AtomicU8::new(value as u8))),
            2 => Word::W16(UnsafeCell::new(AtomicU16::new(value as u16))),
            4 => Word::W32(UnsafeCell::new(AtomicU32::new(value as u32))),
            _ => Word::W64(UnsafeCell::new(AtomicU64::new(value))),
        }
    }

    pub fn load(&self, order: Ordering) -> u64 {
        each!(self, atomic => u64::from(atomic.load(order)))
    }

    pub fn store(&self, value: u64, order: Ordering) {
        each!(self, atomic => atomic.store(value as Int, order));
    }

    pub fn swap(&self, value: u64, order: Ordering) -> u64 {
        each!(self, atomic => u64::from(atomic.swap(value as Int, order)))
    }

    pub fn add(&self, value: u64, order: Ordering) -> u64 {
        each!(self, atomic => u64::from(atomic.fetch_add(value as Int, order)))
    }

    pub fn or(&self, value: u64, order: Ordering) -> u64 {
        each!(self, atomic => u64::from(atomic.fetch_or(value as Int, order)))
    }

    pub fn and(&self, value: u64, order: Ordering) -> u64 {
        each!(self, atomic => u64::from(atomic.fetch_and(value as Int, order)))
    }

    /// What was there; `Ok` if it was `old` and is `new` now.
    pub fn cas(&self, old: u64, new: u64, order: Ordering) -> Result<u64, u64> {
        each!(self, atomic => atomic
            .compare_exchange(old as Int, new as Int, order, failure(order))
            .map(u64::from)
            .map_err(u64::from))
    }

    /// A plain load: loom checks that it races with no store.
    pub fn get_plain(&self) -> u64 {
        // SAFETY: loom panics instead of racing.
        each!(self, atomic => u64::from(unsafe { atomic.unsync_load() }))
    }

    /// A plain store: loom checks that it races with nothing.
    pub fn set_plain(&self, value: u64) {
        // SAFETY: see `each`: no other reference is in use now.
        unsafe {
            match self {
                Word::W8(atomic) => (*atomic.get()).with_mut(|v| *v = value as u8),
                Word::W16(atomic) => (*atomic.get()).with_mut(|v| *v = value as u16),
                Word::W32(atomic) => (*atomic.get()).with_mut(|v| *v = value as u32),
                Word::W64(atomic) => (*atomic.get()).with_mut(|v| *v = value),
            }
        }
    }
}

/// A failed compare orders nothing: the contract says so for every name but
/// the fully ordered ones, which bring fences of their own.
fn failure(_success: Ordering) -> Ordering {
    Relaxed
}

/// `order` as a load may have it.
pub(crate) fn load_order(order: Ordering) -> Ordering {
    match order {
        Ordering::AcqRel | Ordering::SeqCst => Acquire,
        Ordering::Release => Relaxed,
        other => other,
    }
}

/// `order` as a store may have it.
pub(crate) fn store_order(order: Ordering) -> Ordering {
    match order {
        Ordering::AcqRel | Ordering::SeqCst => Ordering::Release,
        Acquire => Relaxed,
        other => other,
    }
}
