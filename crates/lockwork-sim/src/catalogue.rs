// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What can be simulated: the locks, their knobs, and the events that they count. All are
//! by the tables that the worlds share (locks/catalogue.def, platform/knobs.def, events.def).

use crate::knobs::Knob;
use crate::world;
use anyhow::Result;

/// A lock of the catalogue, or a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// What users type.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Waiters leave the CPU.
    pub sleeps: bool,
    /// It has shared acquisitions.
    pub is_rw: bool,
    /// It serves waiters by clusters of CPUs, so that it needs several.
    pub needs_clusters: bool,
    /// A published lock that only simulations have, to be compared with.
    pub is_baseline: bool,
}

/// All locks, in the order of the catalogue; the baselines after them.
///
/// # Errors
/// They cannot be loaded.
pub fn locks() -> Result<Vec<Lock>> {
    world::with(|world| {
        let lock = |ops: &'static world::Ops| Lock {
            name: ops.name(),
            summary: ops.summary(),
            sleeps: ops.sleeps(),
            is_rw: ops.is_rw(),
            needs_clusters: ops.needs_clusters(),
            is_baseline: world.is_baseline(ops),
        };
        world.locks().map(lock).collect()
    })
}

/// All knobs, in the order of their table.
///
/// # Errors
/// The locks cannot be loaded.
pub fn knobs() -> Result<Vec<Knob>> {
    world::with(|world| world.knobs().collect())
}

/// The names of all events, in the order of their table, which is that of
/// [`Counts::events`](crate::outcome::Counts::events).
///
/// # Errors
/// The locks cannot be loaded.
pub fn events() -> Result<Vec<&'static str>> {
    world::with(|world| world.events().to_vec())
}
