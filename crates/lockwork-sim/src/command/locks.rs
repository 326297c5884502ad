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

/// Those of these names, on that machine. `asked`: a user typed the names.
///
/// # Errors
/// An unknown name, or a lock that was asked for by its name and makes no sense there.
pub(super) fn named(
    names: &[String],
    asked: bool,
    known: &[Lock],
    machine: &Machine,
    clusters: Clusters,
) -> Result<Named> {
    let chosen = choice::several("lock", names, &GROUPS, known, |lock| lock.name)?;
    let enough = count(machine, clusters) > 1;
    let mut named = Named {
        locks: Vec::new(),
        left_out: Vec::new(),
    };
    for lock in chosen {
        if enough || !lock.needs_clusters {
            named.locks.push(*lock);
        } else if asked && names.iter().any(|name| name == lock.name) {
            bail_usage!(
                "{} serves waiters by clusters of CPUs, and {} has only one; take another \
                 machine or another lock",
                lock.name,
                machine.name
            );
        } else {
            named.left_out.push(lock.name);
        }
    }
    Ok(named)
}

/// How many clusters of CPUs there are for the locks.
fn count(machine: &Machine, clusters: Clusters) -> usize {
    // They are numbered through.
    let all = machine.places.iter().map(|place| match clusters {
        Clusters::Llc => place.cluster,
        Clusters::Node => place.node,
    });
    all.max().map_or(1, |last| usize::from(last) + 1)
}
