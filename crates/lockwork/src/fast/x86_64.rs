// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What takes an instruction of its own.
use core::arch::asm;
use core::sync::atomic::{fence, AtomicU32, AtomicU8, Ordering::*};
use lockwork_sys::{lkp_membarrier, lkp_rseq_cpu, lkp_vcpu_slow, OWNER_TURN, OWNER_TURNS};

/// `this_vcpu()`: the CPU that this thread runs on, a hint.
#[inline]
fn this_vcpu() -> u32 {
    // SAFETY: set once, before main.
    let offset = unsafe { &lkp_rseq_cpu }.load(Relaxed);
    let cpu: u32;
    // SAFETY: C found a word of this thread at that offset.
    unsafe {
        asm!("mov {cpu:e}, fs:[{offset}]", cpu = out(reg) cpu, offset = in(reg) offset,
             options(nostack, preserves_flags, readonly));
    }
    if (cpu as i32) < 0 {
        return vcpu_slow();
    }
    cpu
}

/// Leaves `next_owner()` as the holder's hint: where it runs, and how many held the
/// lock before it. The caller holds the lock.
#[inline]
pub(super) fn leave_owner(owner: &AtomicU32) {
    // First: what lives across its slow call would cost a stack frame.
    let cpu = this_vcpu();
    let turns = owner.load(Relaxed).wrapping_add(OWNER_TURN) & OWNER_TURNS;
    owner.store(turns | cpu, Relaxed);
}

#[cold]
fn vcpu_slow() -> u32 {
    // SAFETY: no precondition.
    unsafe { lkp_vcpu_slow() }
}

/// `smp_mb_light()`: orders like a full fence, but only against the slow paths'
/// `smp_mb_heavy()`, which interrupts all running threads of the process.
#[inline]
pub(super) fn mb_light() {
    // SAFETY: a C variable that lives as long as the program.
    if unsafe { &lkp_membarrier }.load(Relaxed) != 0 {
        // SAFETY: no instruction; `barrier()` of C.
        unsafe { asm!("", options(nostack, preserves_flags)) };
    } else {
        fence(SeqCst);
    }
}

/// `smp_store_release()` of 0 to a byte of a word that others exchange as a whole.
///
/// Rust's atomics must not be mixed in size, so this is an instruction that the
/// compiler does not look into. On x86-64 each store is a release.
///
/// # Safety
/// A byte of a lock is there.
#[inline]
pub(super) unsafe fn release_byte<T>(lock: *mut T, offset: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("mov byte ptr [{}], 0", in(reg) lock.byte_add(offset),
             options(nostack, preserves_flags));
    }
}

/// `try_cmpxchg_acquire()` of two bytes of a word that others exchange as a whole,
/// an instruction for the same reason: what was there, `old` if it is `new` now.
///
/// # Safety
/// Two bytes of a lock are there, aligned.
#[inline]
pub(super) unsafe fn exchange_half<T>(lock: *mut T, offset: usize, old: u16, new: u16) -> u16 {
    let seen;
    // SAFETY: the caller's promise.
    unsafe {
        asm!("lock cmpxchg word ptr [{at}], {new:x}", at = in(reg) lock.byte_add(offset),
             new = in(reg) new, inout("ax") old => seen, options(nostack));
    }
    seen
}

/// A byte that is accessed as a byte only.
///
/// # Safety
/// A byte of a lock is there, and that lives for `'a`.
#[inline]
pub(super) unsafe fn byte<'a, T>(lock: *mut T, offset: usize) -> &'a AtomicU8 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU8::from_ptr(lock.byte_add(offset).cast()) }
}
