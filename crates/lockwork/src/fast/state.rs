// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The word of a lock, and how many readers it may count.
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

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
