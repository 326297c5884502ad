// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The structs of a profile's file, as the recorder writes them: `record/format.h` and `record/records.h`.

include!(concat!(env!("OUT_DIR"), "/format.rs"));

/// `REC_MAGIC` of C, "LkwProf1".
pub const MAGIC: u64 = 0x3166_6f72_5077_6b4c;
/// `REC_VERSION` of C.
pub const VERSION: u64 = 3;
/// Where the waiting threads are.
pub const WAITS: usize = 4096;
/// How many of those there are.
pub const MAX_WAITS: usize = 1024;
/// Where the first block is.
pub const BLOCKS: usize = WAITS + MAX_WAITS * size_of::<RawWait>();

/// The block's content is records.
pub const BLOCK_RECORDS: u32 = 1;
/// It is lines of `/proc/self/maps`.
pub const BLOCK_MAPS: u32 = 2;

/// The types of records: a batch of sites.
pub const SITES: u32 = 1;
/// What is kept of a site that is contended, or used often.
pub const DETAIL: u32 = 2;
/// Who held a lock.
pub const BLAME: u32 = 3;
/// Where a thread waited.
pub const STACK: u32 = 4;
/// Where a lock was initialized.
pub const INIT: u32 = 5;
/// A thread number.
pub const THREAD: u32 = 6;
/// Events of the timeline.
pub const EVENTS: u32 = 7;
/// The uncontended holds of a site.
pub const TIMING: u32 = 8;
/// In a site, the call's kind is above this bit: `REC_KIND_SHIFT` of C.
pub const KIND_SHIFT: u32 = 56;
/// The count is above this bit: `REC_COUNT_SHIFT` of C.
pub const COUNT_SHIFT: u32 = 16;
/// There is memory for so many in each such record: `REC_CHUNK` of C.
pub const CHUNK: u32 = 32;
/// A window of the timeline is 2 to this ticks: `REC_WINDOW` of C.
pub const WINDOW: u32 = 20;
/// In the kind of an event: the wait ended by its deadline.
pub const TIMED_OUT: u32 = 0x100;

/// One of the structs above, which consist of numbers only.
///
/// # Safety
/// Every pattern of bits is a value of the type.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($name:ident)*) => {
        // SAFETY: their fields are u32 and u64, and arrays of these.
        $(unsafe impl Plain for $name {})*
    };
}
plain! { RawFile RawWait RawBlock RawSite RawSites RawTiming RawDetail RawBlame RawStack RawInit RawThread RawEvent RawEvents u64 u32 }

/// The `T` at byte `at`; none: the bytes end before it does.
pub fn read<T: Plain>(bytes: &[u8], at: usize) -> Option<T> {
    let piece = bytes.get(at..at.checked_add(size_of::<T>())?)?;
    // SAFETY: the piece is as long as a T, and each pattern of bits is one.
    Some(unsafe { std::ptr::read_unaligned(piece.as_ptr().cast()) })
}
