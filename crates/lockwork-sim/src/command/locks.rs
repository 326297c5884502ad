// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks by the names that users type.

use crate::engine::placed_on;
use crate::machine::Machine;
use crate::{Clusters, Lock, Placement};
use anyhow::Result;
use lockwork_report::bail_usage;
use lockwork_report::choice::{self, Group};

/// Names for several locks.
pub(super) const GROUPS: [Group<Lock>; 3] = [
    Group {
        name: "all",
        has: |_| true,
    },
    Group {
        name: "ours",
        has: |lock| !lock.is_baseline,
    },
    Group {
        name: "rivals",
        has: |lock| lock.is_baseline,
    },
];

/// What was chosen.
pub(super) struct Named {
    /// Each once.
    pub(super) locks: Vec<Lock>,
    /// Locks of a group that make no sense on the machine.
    pub(super) left_out: Vec<&'static str>,
}

/// Where the locks are used.
pub(super) struct Ground<'a> {
    pub(super) machine: &'a Machine,
    /// What they take for a cluster.
    pub(super) clusters: Clusters,
    /// The order of the CPUs.
    pub(super) placement: Placement,
    /// How many CPUs are in use; 0: all.
    pub(super) cpus: usize,
}

/// Those of these names, on that ground. `asked`: a user typed the names.
///
/// # Errors
/// An unknown name, or a lock that was asked for by its name and makes no sense there.
pub(super) fn named(
    names: &[String],
    asked: bool,
    known: &[Lock],
    ground: &Ground,
) -> Result<Named> {
    let chosen = choice::several("lock", names, &GROUPS, known, |lock| lock.name)?;
    let enough = ground.clusters() > 1;
    let mut named = Named {
        locks: Vec::new(),
        left_out: Vec::new(),
    };
    for lock in chosen {
        if enough || !lock.needs_clusters {
            named.locks.push(*lock);
        } else if asked && names.iter().any(|name| name == lock.name) {
            bail_usage!(
                "{} serves waiters by clusters of CPUs, and {} only one; {} another lock",
                lock.name,
                ground.says(),
                match (Ground { cpus: 0, ..*ground }).clusters() {
                    0 | 1 => "take another machine or",
                    _ => "take more CPUs (--cpus), another --placement or",
                }
            );
        } else {
            named.left_out.push(lock.name);
        }
    }
    Ok(named)
}

impl Ground<'_> {
    /// How many clusters the CPUs in use are of.
    fn clusters(&self) -> usize {
        let cpus = placed_on(self.machine, self.placement, self.cpus);
        let of = cpus.iter().map(|&cpu| match self.clusters {
            Clusters::Llc => self.machine.places[cpu].cluster,
            Clusters::Node => self.machine.places[cpu].node,
        });
        let mut all: Vec<u16> = of.collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// Whose clusters they are, with the verb.
    pub(super) fn says(&self) -> String {
        let name = &self.machine.name;
        match self.cpus {
            0 => format!("{name} has"),
            1 => format!("the CPU in use of {name} is of"),
            cpus => format!("the {cpus} CPUs in use of {name} are of"),
        }
    }
}
