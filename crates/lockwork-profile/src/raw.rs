// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The structs and numbers of a profile's file, as the recorder writes them: `record/format.h` and
//! the headers that it includes say what they are.

include!(concat!(env!("OUT_DIR"), "/format.rs"));

/// Where the first block is: `REC_BLOCKS` of C.
pub const BLOCKS: usize = WAITS + MAX_WAITS * size_of::<RawWait>();

/// What a recording needs at once: that, and some room for records.
pub const LEAST: u64 = BLOCKS as u64 + (64 << 10);

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
plain! { RawFile RawWait RawBlock RawSite RawSites RawTiming RawDetail RawBlame RawStack RawInside RawInit RawKept RawLeft RawName RawOutside RawThread RawEvent RawEvents u64 u32 }

/// The `T` at byte `at`; none: the bytes end before it does.
pub fn read<T: Plain>(bytes: &[u8], at: usize) -> Option<T> {
    let piece = bytes.get(at..at.checked_add(size_of::<T>())?)?;
    // SAFETY: the piece is as long as a T, and each pattern of bits is one.
    Some(unsafe { std::ptr::read_unaligned(piece.as_ptr().cast()) })
}
