// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks that people would pick instead of ours: those of glibc, Rust,
//! Abseil, nsync, oneTBB and Concurrency Kit. Each is behind the very table of
//! our own locks, so that one loop drives all of them at the same cost a call.
//!
//! What is not installed where Lockwork is built is [`Absent`], with the reason;
//! a program that uses this crate is never linked with it. `docs/peers.md` says
//! what each peer is.
//!
//! ```
//! let peer = lockwork_peers::peers().present.iter().find(|p| p.kind.name() == "glibc.mutex");
//! let lock = peer.expect("glibc is always there").kind.create();
//! // SAFETY: this thread unlocks what it locked.
//! unsafe {
//!     lock.lock();
//!     lock.unlock();
//! }
//! ```
mod entry;
mod gather;
mod guards;
mod list;
mod load;
mod parking_lot_locks;
mod peer;
mod std_locks;

use std::sync::OnceLock;

pub use peer::{Absent, Family, Inlined, Peer, Peers};

/// The peers. The first call loads their libraries, which stay loaded.
pub fn peers() -> &'static Peers {
    static PEERS: OnceLock<Peers> = OnceLock::new();
    PEERS.get_or_init(|| gather::gather(gather::SHIMS))
}
