// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Real CPUs under a hypervisor.

use super::tree::Ps;
use crate::setup::{self, Vcpus};
use std::collections::VecDeque;

/// A real CPU.
#[derive(Default)]
pub(super) struct Real {
    /// The virtual CPU on it.
    pub(super) runs: Option<u32>,
    pub(super) ready: VecDeque<u32>,
    /// A timer for the end of the slice is set.
    pub(super) slice: bool,
    pub(super) since: Ps,
}

/// The hypervisor, and what the guests' waiters have seen of it.
pub(crate) struct Guests {
    /// By place.
    pub(super) real: Vec<Real>,
    /// The places of those in use.
    pub(super) used: Vec<u16>,
    /// Virtual CPUs move.
    pub(super) migrate: bool,
    /// By virtual machine: how often `cpus_are_short()` still says yes.
    pub(super) short: Vec<u32>,
}

impl Guests {
    /// A hypervisor of a machine with so many places.
    pub fn new(of: &setup::Guests, places: usize, used: Vec<u16>) -> Self {
        Guests {
            real: (0..places).map(|_| Real::default()).collect(),
            used,
            migrate: of.vcpus == Vcpus::Migrate,
            short: vec![0; of.vms as usize],
        }
    }
}
