// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The lock catalogue in user space.
//!
//! The locks are C, compiled by `lockwork-sys` against the user world. Rust knows
//! no lock's struct: name, size, alignment, promises and operations all come
//! from the C table, so a lock that joins the catalogue is here at once.
//!
//! ```
//! let kind = lockwork_catalogue::by_name("mutex")?;
//! let lock = kind.create();
//! // SAFETY: this thread unlocks what it locked.
//! unsafe {
//!     lock.lock();
//!     lock.unlock();
//! }
//! # Ok::<(), lockwork_catalogue::UnknownLock>(())
//! ```
mod event;
mod knob;
mod lock;
mod mirrors;
mod ops;
mod text;

// Links the C code.
use lockwork_sys as _;

pub use event::{
    cluster_count, counted, divided, events, reset_events, set_clusters, ClustersError, Event,
};
pub use knob::{
    force_knob, knobs, limit_slots, set_knob, slots_in_use, Knob, KnobError, MAX_SLOTS,
};
pub use lock::{by_name, catalogue, Lock, LockKind, UnknownLock};
pub use mirrors::RawOps;
pub use ops::Promises;
