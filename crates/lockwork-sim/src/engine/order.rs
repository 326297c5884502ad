// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where threads are placed.

use crate::machine::Machine;
use crate::setup::Placement;

/// The machine's CPUs in the order in which threads are placed on them; the first so many,
/// or all if that is 0.
pub(crate) fn placed_on(machine: &Machine, placement: Placement, most: usize) -> Vec<usize> {
    let mut cpus: Vec<usize> = (0..machine.cpus()).collect();
    if placement != Placement::Compact {
        let mut met = vec![0; machine.nodes()];
        let mut key: Vec<(usize, usize)> = Vec::with_capacity(cpus.len());
        for place in &machine.places {
            let node = usize::from(place.node);
            key.push((met[node], node));
            met[node] += 1;
        }
        cpus.sort_by_key(|&cpu| key[cpu]);
    }
    if most > 0 {
        cpus.truncate(most);
    }
    cpus
}
