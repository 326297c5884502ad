// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks by the names that users type.

use crate::machine::Machine;
use crate::{Clusters, Lock};
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

/// Those of these names, on a machine with so many clusters.
pub(super) fn named(
    names: &[String],
    known: &[Lock],
    machine: &Machine,
    clusters: Clusters,
) -> Result<Named> {
    let mut locks: Vec<Lock> = choice::several("lock", names, &GROUPS, known, |lock| lock.name)?
        .into_iter()
        .copied()
        .collect();
    let mut left_out = Vec::new();
    if count(machine, clusters) < 2 {
        let pointless = |lock: &Lock| lock.needs_clusters;
        if let Some(lock) = locks
            .iter()
            .find(|lock| pointless(lock) && names.iter().any(|name| name == lock.name))
        {
            bail_usage!(
                "{} serves waiters by clusters of CPUs, and {} has only one; take another machine \
                 or another lock",
                lock.name,
                machine.name
            );
        }
        left_out = locks
            .iter()
            .filter(|lock| pointless(lock))
            .map(|lock| lock.name)
            .collect();
        locks.retain(|lock| !pointless(lock));
    }
    Ok(Named { locks, left_out })
}

fn count(machine: &Machine, clusters: Clusters) -> usize {
    // They are numbered through.
    let all = machine.places.iter().map(|place| match clusters {
        Clusters::Llc => place.cluster,
        Clusters::Node => place.node,
    });
    all.max().map_or(1, |last| usize::from(last) + 1)
}
