// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From where the CPUs are to a topology that a file can have: the same number of
//! everything everywhere. What is left over is said.

use std::collections::BTreeMap;

use super::super::file::Numa;
use super::super::topology::Shape;
use super::sysfs::{Seat, Sysfs};

/// A regular part of a machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Regular {
    pub(super) shape: Shape,
    pub(super) numa: Numa,
    /// The CPUs, in the order of the file: first threads first.
    pub(super) cpus: Vec<usize>,
    /// Links from socket to socket, if some are farther than others.
    pub(super) hops: Option<Vec<Vec<i64>>>,
    pub(super) warnings: Vec<String>,
}

/// Socket, die, cluster, core.
type Key = [usize; 4];

/// A group at some level, and what is in it.
enum Tree {
    Cpus(Vec<usize>),
    Groups(Vec<Tree>),
}

impl Tree {
    fn of(seats: &[(Key, usize)], level: usize) -> Tree {
        if level == 4 {
            return Tree::Cpus(seats.iter().map(|&(_, cpu)| cpu).collect());
        }
        let mut groups: BTreeMap<usize, Vec<(Key, usize)>> = BTreeMap::new();
        for seat in seats {
            groups.entry(seat.0[level]).or_default().push(*seat);
        }
        Tree::Groups(
            groups
                .values()
                .map(|seats| Tree::of(seats, level + 1))
                .collect(),
        )
    }

    /// Lowers `least[level]` to the smallest group of each level.
    fn least(&self, level: usize, least: &mut [usize; 5]) {
        match self {
            Tree::Cpus(cpus) => least[level] = least[level].min(cpus.len()),
            Tree::Groups(groups) => {
                least[level] = least[level].min(groups.len());
                for group in groups {
                    group.least(level + 1, least);
                }
            }
        }
    }

    /// The CPUs of each core that is within `least`.
    fn cores(&self, level: usize, least: &[usize; 5], cores: &mut Vec<Vec<usize>>) {
        match self {
            Tree::Cpus(cpus) => cores.push(cpus[..least[level]].to_vec()),
            Tree::Groups(groups) => {
                for group in &groups[..least[level]] {
                    group.cores(level + 1, least, cores);
                }
            }
        }
    }
}

/// Finds the regular part. There is one CPU at least.
pub(super) fn regular(sysfs: &Sysfs) -> Regular {
    let mut warnings = sysfs.warnings.clone();
    // Several nodes in a socket: those are its dies.
    let mut first_node: BTreeMap<usize, usize> = BTreeMap::new();
    let mut numa = Numa::Socket;
    for seat in sysfs.seats.values() {
        if *first_node.entry(seat.socket).or_insert(seat.node) != seat.node {
            numa = Numa::Die;
        }
    }
    let nodes: std::collections::BTreeSet<usize> = first_node.values().copied().collect();
    if numa == Numa::Socket && nodes.len() < first_node.len() {
        warnings
            .push("some sockets are one NUMA node together; the file says that each is one".into());
    }
    let key = |seat: &Seat| {
        let die = match numa {
            Numa::Die => seat.node,
            Numa::Socket => seat.die,
        };
        [seat.socket, die, seat.cache, seat.core]
    };
    let seats: Vec<(Key, usize)> = sysfs
        .seats
        .iter()
        .map(|(&cpu, seat)| (key(seat), cpu))
        .collect();
    let tree = Tree::of(&seats, 0);
    let mut least = [usize::MAX; 5];
    tree.least(0, &mut least);
    let mut cores = Vec::new();
    tree.cores(0, &least, &mut cores);
    let [sockets, dies, clusters, per_cluster, threads] = least;
    let cpus: Vec<usize> = (0..threads)
        .flat_map(|thread| cores.iter().map(move |cpus| cpus[thread]))
        .collect();
    if cpus.len() < sysfs.seats.len() {
        let left: Vec<String> = sysfs
            .seats
            .keys()
            .filter(|cpu| !cpus.contains(cpu))
            .map(usize::to_string)
            .collect();
        warnings.push(format!(
            "a file needs the same number of everything everywhere; \
             these CPUs are left out: {}",
            left.join(",")
        ));
    }
    Regular {
        shape: Shape {
            sockets,
            dies,
            clusters,
            cores: per_cluster,
            threads,
        },
        numa,
        cpus,
        hops: hops(sysfs, &first_node),
        warnings,
    }
}

/// With three sockets or more whose nodes are at two distances: which are two
/// links apart.
fn hops(sysfs: &Sysfs, first_node: &BTreeMap<usize, usize>) -> Option<Vec<Vec<i64>>> {
    let nodes: Vec<usize> = first_node.values().copied().collect();
    let index = |node: usize| sysfs.nodes.keys().position(|&n| n == node);
    let distance = |a: usize, b: usize| {
        let row = sysfs.nodes.get(&nodes[a])?;
        row.get(index(nodes[b])?).copied()
    };
    let mut far = Vec::new();
    for a in 0..nodes.len() {
        for b in (0..nodes.len()).filter(|&b| b != a) {
            // The kernel's table need not be symmetric, a file's must.
            far.push(distance(a, b)?.max(distance(b, a)?));
        }
    }
    far.sort_unstable();
    far.dedup();
    let [near, _] = far[..] else { return None };
    let links = |a: usize, b: usize| match distance(a, b).max(distance(b, a)) {
        _ if a == b => 0,
        Some(d) if d <= near => 1,
        _ => 2,
    };
    let row = |a: usize| (0..nodes.len()).map(|b| links(a, b)).collect();
    Some((0..nodes.len()).map(row).collect())
}
