// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What to simulate.

use crate::knobs::Setting;
use crate::machine::Machine;
use crate::rules::Rules;
use crate::workload::Workload;

/// On which CPUs the threads start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// CPU after CPU, in the order of their numbers.
    Compact,
    /// Round and round the NUMA nodes.
    Spread,
    /// Round and round the clusters: first one CPU of each, each time on another node.
    SpreadClusters,
    /// One for each NUMA node, as long as there are nodes; then as `Spread`.
    PerNode,
}

/// On which real CPUs a virtual one runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vcpus {
    /// Always the same.
    #[default]
    Pinned,
    /// It moves to one that is idle, or has fewer virtual CPUs to run.
    Migrate,
}

/// A hypervisor under the machine's CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guests {
    /// Virtual CPUs for each CPU; 1: nobody else.
    pub overcommit: u32,
    /// Whether these move.
    pub vcpus: Vcpus,
    /// Virtual machines, each with its share of the virtual CPUs and of the threads, and with a
    /// lock of its own.
    pub vms: u32,
}

impl Guests {
    /// One virtual machine with so many virtual CPUs for each CPU, which stay there.
    pub const fn pinned(overcommit: u32) -> Guests {
        Guests {
            overcommit,
            vcpus: Vcpus::Pinned,
            vms: 1,
        }
    }
}

/// What the locks take for a cluster of CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clusters {
    /// Those that share a last-level cache.
    #[default]
    Llc,
    /// Those of a NUMA node.
    Node,
}

/// What to simulate.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The lock, by its name.
    pub lock: &'a str,
    /// The workload.
    pub workload: &'a Workload,
    /// Threads.
    pub threads: usize,
    /// Where they start.
    pub placement: Placement,
    /// CPUs to use, the first so many in the order of `placement`; 0: all.
    pub cpus: usize,
    /// A hypervisor, if there is one.
    pub guests: Option<Guests>,
    /// What a cluster is.
    pub clusters: Clusters,
    /// Knobs that are not as they are by default.
    pub settings: &'a [Setting],
    /// Lengthens warm-up and measured time until what is measured is a steady state
    /// ([`crate::settle`]), as long as that takes no more memory operations than this; none:
    /// they are as the workload says.
    pub settle: Option<u64>,
    /// The rules of the model that it keeps.
    pub rules: Rules,
    /// All that is random depends on it.
    pub seed: u64,
    /// The part of the measured time to record, from and to, µs.
    pub window: Option<(f64, f64)>,
}

impl Setup<'_> {
    /// Virtual machines; 1 without a hypervisor. Thread `i` is of machine `i % vms()`.
    pub fn vms(&self) -> usize {
        self.guests.map_or(1, |guests| guests.vms as usize)
    }
}
