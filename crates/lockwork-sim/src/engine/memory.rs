// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Accesses to the memory of the locks.

/// What is there.
pub(crate) fn read(addr: usize, size: u32) -> u64 {
    // SAFETY: C gave the address of an object of this size and alignment, which
    // no other OS thread knows of.
    unsafe {
        match size {
            1 => u64::from(*(addr as *const u8)),
            2 => u64::from(*(addr as *const u16)),
            4 => u64::from(*(addr as *const u32)),
            _ => *(addr as *const u64),
        }
    }
}

/// Puts `value` there.
pub(crate) fn write(addr: usize, size: u32, value: u64) {
    // SAFETY: as in `read`.
    unsafe {
        match size {
            1 => *(addr as *mut u8) = value as u8,
            2 => *(addr as *mut u16) = value as u16,
            4 => *(addr as *mut u32) = value as u32,
            _ => *(addr as *mut u64) = value,
        }
    }
}
