// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is known of a lock of another library.

use std::ffi::c_void;

use lockwork_catalogue::LockKind;

/// What a lock is compared with: locks of one family do the same job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// One holder; waiters sleep.
    Mutex,
    /// One holder; waiters stay on their CPUs, or yield them at most.
    Spin,
    /// One writer or many readers, however they wait.
    Rw,
}

impl Family {
    /// The word for it in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::Spin => "spin",
            Self::Rw => "rw",
        }
    }
}

/// A lock of another library that can be used here.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its table. The name is `library.kind`.
    pub kind: LockKind,
    /// The first part of the name.
    pub library: &'static str,
    /// The locks that it may be compared with.
    pub family: Family,
    /// Of the library, as its headers or its package tell; empty if unknown.
    pub version: String,
    /// Its uncontended cost without the table.
    pub inlined: Option<Inlined>,
}

/// `n` uncontended lock+unlock pairs in a loop compiled together with the lock,
/// so that what its headers offer inline is inlined.
///
/// The lock is a free one of that kind, as [`lockwork_catalogue::Lock::as_ptr`] gives
/// it, and is free afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Inlined {
    /// Held alone.
    pub pairs: unsafe extern "C" fn(lock: *mut c_void, n: u64),
    /// Held shared; `None` unless it is of [`Family::Rw`].
    pub read_pairs: Option<unsafe extern "C" fn(*mut c_void, u64)>,
}

/// A lock that is known but cannot be used here.
#[derive(Clone, Debug)]
pub struct Absent {
    /// Its name, `library.kind`.
    pub name: &'static str,
    /// The first part of the name.
    pub library: &'static str,
    /// What it would be compared with.
    pub family: Family,
    /// Why, and what to do; for users.
    pub reason: String,
}

/// All locks that are known, each in one of two lists.
#[derive(Clone, Debug)]
pub struct Peers {
    /// Those that can be used.
    pub present: Vec<Peer>,
    /// Those that cannot, and why.
    pub absent: Vec<Absent>,
}
