// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where threads are placed.

use std::collections::BTreeMap;

use crate::machine::Machine;
use crate::setup::Placement;

/// The machine's CPUs in the order in which threads are placed on them; the first so many,
/// or all if that is 0.
pub(crate) fn placed_on(machine: &Machine, placement: Placement, most: usize) -> Vec<usize> {
    let mut cpus: Vec<usize> = (0..machine.cpus()).collect();
    match placement {
        Placement::Compact => {}
        Placement::Spread | Placement::PerNode => {
            let mut met = Met::default();
            cpus.sort_by_cached_key(|&cpu| {
                let node = machine.places[cpu].node;
                (met.another(node), node)
            });
        }
        Placement::SpreadClusters => {
            let (mut met, mut clusters, mut first) =
                (Met::default(), Met::default(), BTreeMap::new());
            cpus.sort_by_cached_key(|&cpu| {
                let place = &machine.places[cpu];
                let rank = *first
                    .entry(place.cluster)
                    .or_insert_with(|| clusters.another(place.node));
                (met.another(place.cluster), rank, place.node)
            });
        }
    }
    if most > 0 {
        cpus.truncate(most);
    }
    cpus
}

/// How many of each group have come.
#[derive(Default)]
struct Met(BTreeMap<u16, usize>);

impl Met {
    /// One more of this group; how many came before.
    fn another(&mut self, group: u16) -> usize {
        let met = self.0.entry(group).or_default();
        *met += 1;
        *met - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::load;

    fn nodes_and_clusters(placement: Placement, most: usize) -> Vec<(u16, u16)> {
        let machine = load("epyc-9654-nps4").expect("a machine of ours");
        placed_on(&machine, placement, most)
            .into_iter()
            .map(|cpu| (machine.places[cpu].node, machine.places[cpu].cluster))
            .collect()
    }

    #[test]
    fn compact_fills_a_cluster_and_spread_goes_round_the_nodes() {
        let compact = nodes_and_clusters(Placement::Compact, 8);
        assert!(compact.iter().all(|place| *place == compact[0]));
        let spread = nodes_and_clusters(Placement::Spread, 8);
        let nodes: Vec<u16> = spread.iter().map(|place| place.0).collect();
        assert_eq!(nodes, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn clusters_come_once_each_and_on_another_node_each_time() {
        let places = nodes_and_clusters(Placement::SpreadClusters, 24);
        let clusters: std::collections::BTreeSet<u16> =
            places.iter().map(|place| place.1).collect();
        assert_eq!(clusters.len(), 24, "{places:?}");
        let nodes: Vec<u16> = places.iter().map(|place| place.0).collect();
        assert_eq!(nodes[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(nodes[8..16], [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn each_cpu_comes_once() {
        let machine = load("epyc-9654-nps4").expect("a machine of ours");
        for placement in [
            Placement::Compact,
            Placement::Spread,
            Placement::SpreadClusters,
            Placement::PerNode,
        ] {
            let mut cpus = placed_on(&machine, placement, 0);
            cpus.sort_unstable();
            assert!(cpus.into_iter().eq(0..machine.cpus()), "{placement:?}");
        }
    }
}
