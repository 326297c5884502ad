// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where threads are placed.

use super::caches::Caches;
use crate::setup::{Placement, Setup};

/// The machine's CPUs in the order in which threads are placed on them.
pub(super) fn order(setup: &Setup, caches: &Caches, place_of: &[u16]) -> Vec<usize> {
    let mut cpus: Vec<usize> = (0..place_of.len()).collect();
    if setup.placement != Placement::Compact {
        let mut met = vec![0; setup.machine.nodes()];
        let mut key: Vec<(usize, usize)> = Vec::with_capacity(cpus.len());
        for &cpu in &cpus {
            let node = usize::from(caches.node(place_of[cpu]));
            key.push((met[node], node));
            met[node] += 1;
        }
        cpus.sort_by_key(|&cpu| key[cpu]);
    }
    if setup.cpus > 0 {
        cpus.truncate(setup.cpus);
    }
    cpus
}
