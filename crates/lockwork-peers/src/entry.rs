// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The mirror of `struct peer_entry`, as `peers/peer.h` declares it.
use crate::list::library;
use crate::peer::{Family, Inlined, Peer};
use lockwork_catalogue::{LockKind, RawOps};
use std::ffi::c_void;
use std::ptr;

type Pairs = unsafe extern "C" fn(*mut c_void, u64);

/// A peer, as its shim says it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    ops: *const RawOps,
    family: u32,
    pairs: Option<Pairs>,
    read_pairs: Option<Pairs>,
}

impl Entry {
    /// That of a shim in Rust.
    pub(crate) fn new(
        ops: &'static RawOps,
        family: Family,
        pairs: Pairs,
        read_pairs: Option<Pairs>,
    ) -> Self {
        Self {
            ops: ptr::from_ref(ops),
            family: family as u32,
            pairs: Some(pairs),
            read_pairs,
        }
    }

    /// The peer, of a library of that `version`; `None` if the shim is of
    /// another release of this crate, which cannot be with an embedded one.
    ///
    /// # Safety
    /// `ops` is a complete table that is never changed or freed.
    pub(crate) unsafe fn peer(&self, version: &str) -> Option<Peer> {
        let families = [Family::Mutex, Family::Spin, Family::Rw];
        let family = families.into_iter().find(|f| *f as u32 == self.family)?;
        // SAFETY: the caller's promise.
        let kind = unsafe { LockKind::from_raw(self.ops) };
        let read_pairs = self.read_pairs;
        Some(Peer {
            kind,
            library: library(kind.name()),
            family,
            version: version.to_owned(),
            inlined: self.pairs.map(|pairs| Inlined { pairs, read_pairs }),
        })
    }
}

/// The entries before the one that is all zero.
///
/// # Safety
/// `first` is the address of such a table.
pub(crate) unsafe fn entries(first: *const Entry) -> Vec<Entry> {
    let mut entries = Vec::new();
    // SAFETY: no further than to the end of the table.
    unsafe {
        let mut next = first;
        while !(*next).ops.is_null() {
            entries.push(*next);
            next = next.add(1);
        }
    }
    entries
}
