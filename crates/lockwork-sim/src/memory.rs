// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The simulated machine's memory, as far as a workload uses it.

use std::cell::Cell;
use std::ffi::c_void;

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;
/// The simulated address of a workload's first byte.
const FIRST: u64 = 1 << 40;

thread_local! {
    /// The same on the host, of the workload that this OS thread simulates.
    static HOST: Cell<usize> = const { Cell::new(0) };
}

/// Where an object of the workload is in simulated memory: the same in each run of a setup.
pub(crate) fn simulated(p: *const c_void) -> u64 {
    FIRST.wrapping_add((p as usize).wrapping_sub(HOST.get()) as u64)
}

#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; PAGE]);

/// Pages, all bytes 0 at first.
pub(crate) struct Memory {
    pages: *mut Page,
    count: usize,
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `new` made it of a boxed slice of so many pages.
        unsafe {
            drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(
                self.pages, self.count,
            )))
        };
    }
}

impl Memory {
    /// Memory of at least so many bytes, which the next simulation of this OS thread uses.
    pub fn new(bytes: usize) -> Self {
        let pages = vec![Page([0; PAGE]); bytes / PAGE + 1].into_boxed_slice();
        let count = pages.len();
        let pages: *mut Page = Box::into_raw(pages).cast();
        HOST.set(pages as usize);
        Memory { pages, count }
    }

    /// The byte at `offset`.
    pub fn at(&self, offset: usize) -> *mut c_void {
        assert!(offset < self.count * PAGE, "it is in these pages");
        // SAFETY: it is in these pages.
        unsafe { self.pages.cast::<u8>().add(offset).cast() }
    }
}

/// Gives out memory, piece by piece.
#[derive(Default)]
pub(crate) struct Layout {
    /// Bytes given out.
    pub bytes: usize,
}

impl Layout {
    /// The offset of the next `bytes`, at a multiple of `align`.
    pub fn take(&mut self, bytes: usize, align: usize) -> usize {
        let at = self.bytes.next_multiple_of(align);
        self.bytes = at + bytes;
        at
    }
}
