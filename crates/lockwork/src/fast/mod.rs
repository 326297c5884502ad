// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fast paths: what the inline functions of `locks/*.h` do, in Rust, so that
//! they are inlined into Rust code. All else is a call into C.
//!
//! Each function does what its C original does, access by access and ordering by
//! ordering, and names that original's tags (`[mutex.A]` …); `locks/` has the
//! arguments. Offsets and values come from C. On other targets than x86-64, and
//! with the feature `out-of-line`, `call.rs` takes their place.
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[cfg(not(all(target_arch = "x86_64", not(feature = "out-of-line"))))]
mod call;
#[cfg(not(all(target_arch = "x86_64", not(feature = "out-of-line"))))]
pub(crate) use call::{mutex, rw, spin, spin_rw};

#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
pub(crate) mod mutex;
#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
pub(crate) mod rw;
#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
pub(crate) mod spin;
#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
pub(crate) mod spin_rw;
#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
mod x86_64;

/// The word at `offset` bytes into `lock`.
///
/// # Safety
/// `lock` has a `u32` there, aligned, and lives for `'a`.
#[inline]
pub(crate) unsafe fn word<'a, T>(lock: *mut T, offset: usize) -> &'a AtomicU32 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU32::from_ptr(lock.byte_add(offset).cast()) }
}

/// A reader's count stays below this, so that it cannot overflow into nothing or into another bit:
/// a guard that is forgotten is counted for ever, and that is safe code.
pub(crate) const TOO_MANY_READ: u32 = 1 << 31;
/// The same of the read/write spinlock, whose bit 31 says that a writer drains.
pub(crate) const TOO_MANY_SPIN_READ: u32 = 1 << 30;

/// Whether too many read, by `state`.
#[inline]
pub(crate) fn are_too_many(state: &AtomicU32, too_many: u32) -> bool {
    state.load(Relaxed) & too_many != 0
}

/// # Panics
/// Too many read, by `state`.
#[inline]
pub(crate) fn not_too_many(state: &AtomicU32, too_many: u32) {
    if are_too_many(state, too_many) {
        too_many_readers();
    }
}

#[cold]
pub(crate) fn too_many_readers() -> ! {
    panic!("too many readers of one read/write lock")
}
