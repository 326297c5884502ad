// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A machine's file, as it is written. `docs/machines.md` says what each field
//! means.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::figure::{Count, Figure, Ghz, Ns, Share, Times, Us};
use super::model::Distance;

/// A whole file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What it is.
    pub machine: About,
    /// Where its CPUs are.
    pub topology: Topology,
    /// A cost for each pair of cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<MatrixFile>,
    /// What a line costs, by how far away it is.
    pub distance: Spanned<Distances>,
    /// Lines that several want.
    pub line: Line,
    /// A CPU's own steps.
    pub cpu: Cpu,
    /// Of three and more threads of a core that compute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub smt: Vec<Smt>,
    /// Clocks, where they depend on the active cores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boost: Vec<Boost>,
    /// The operating system.
    pub scheduler: Scheduler,
    /// What runs virtual CPUs.
    pub hypervisor: Hypervisor,
    /// What its calibrated numbers were fitted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Spanned<Calibration>>,
}

/// `[machine]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// One line for lists.
    pub summary: String,
    /// Where its topology is from.
    pub source: String,
}

/// `[topology]`. Counts are as written, and checked later.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Sockets.
    pub sockets: Spanned<i64>,
    /// Dies in each.
    pub dies_per_socket: Spanned<i64>,
    /// Groups of cores with one last-level cache, in each die.
    pub clusters_per_die: Spanned<i64>,
    /// Cores in each.
    pub cores_per_cluster: Spanned<i64>,
    /// Threads of each core.
    pub threads_per_core: Spanned<i64>,
    /// What is a NUMA node.
    pub numa: Numa,
    /// How sockets are joined; without it, each with each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Spanned<Links>>,
    /// Links from socket to socket, row after row: 0, 1 or 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops: Option<Spanned<Vec<Spanned<Vec<i64>>>>>,
    /// Sockets that are linked to each other; node controllers join the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub island_sockets: Option<Spanned<i64>>,
}

/// What is a NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Numa {
    /// Each die.
    Die,
    /// Each socket.
    Socket,
}

/// How sockets are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// Each with each.
    Full,
    /// Each with two others.
    Ring,
}

/// `[matrix]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixFile {
    /// The CSV file, from where this file is.
    pub file: Spanned<String>,
    /// Where it is from.
    pub source: String,
}

/// `[distance.*]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Distances {
    /// The CPU's own cache.
    pub own: Option<Spanned<Class>>,
    /// The other thread of the core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt: Option<Spanned<Class>>,
    /// The same last-level cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Spanned<Class>>,
    /// The same die.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub die: Option<Spanned<Class>>,
    /// The same socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket: Option<Spanned<Class>>,
    /// A linked socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop1: Option<Spanned<Class>>,
    /// Two links away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop2: Option<Spanned<Class>>,
    /// Over a node controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<Spanned<Class>>,
}

impl Distances {
    /// The costs of a distance, if they are given.
    pub fn get(&self, distance: Distance) -> Option<&Spanned<Class>> {
        match distance {
            Distance::Own => self.own.as_ref(),
            Distance::Smt => self.smt.as_ref(),
            Distance::Cluster => self.cluster.as_ref(),
            Distance::Die => self.die.as_ref(),
            Distance::Socket => self.socket.as_ref(),
            Distance::Hop1 => self.hop1.as_ref(),
            Distance::Hop2 => self.hop2.as_ref(),
            Distance::Controller => self.controller.as_ref(),
        }
    }

    /// The same, to be set.
    pub fn slot(&mut self, distance: Distance) -> &mut Option<Spanned<Class>> {
        match distance {
            Distance::Own => &mut self.own,
            Distance::Smt => &mut self.smt,
            Distance::Cluster => &mut self.cluster,
            Distance::Die => &mut self.die,
            Distance::Socket => &mut self.socket,
            Distance::Hop1 => &mut self.hop1,
            Distance::Hop2 => &mut self.hop2,
            Distance::Controller => &mut self.controller,
        }
    }
}

/// The costs of one distance; see [`super::model::Costs`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// A load of a modified line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Figure<Ns>>,
    /// A load of a shared one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_shared: Option<Figure<Ns>>,
    /// A store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<Figure<Ns>>,
    /// A read-modify-write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmw: Option<Figure<Ns>>,
    /// A line that is in memory only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Figure<Ns>>,
}

/// The names of a class's costs.
pub const COSTS: [&str; 5] = ["load", "load_shared", "store", "rmw", "memory"];

impl Class {
    /// The costs, in the order of [`COSTS`].
    pub fn all(&self) -> [Option<&Figure<Ns>>; 5] {
        [
            self.load.as_ref(),
            self.load_shared.as_ref(),
            self.store.as_ref(),
            self.rmw.as_ref(),
            self.memory.as_ref(),
        ]
    }
}

/// How a line is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Home {
    /// The requester asks all.
    Snoop,
    /// The home knows.
    Directory,
}

/// `[line]`; see [`super::model::LineCosts`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// How a line is found.
    pub home: Home,
    /// See [`super::model::LineCosts::hold`].
    pub hold: Figure<Share>,
    /// See [`super::model::LineCosts::store_hold`].
    pub store_hold: Figure<Share>,
    /// See [`super::model::LineCosts::hold_min`].
    pub hold_min: Figure<Ns>,
    /// See [`super::model::LineCosts::request`].
    pub request: Figure<Share>,
    /// See [`super::model::LineCosts::invalidate`].
    pub invalidate: Figure<Ns>,
    /// See [`super::model::LineCosts::occupancy`].
    pub occupancy: Figure<Times>,
    /// See [`super::model::LineCosts::near_bias`].
    pub near_bias: Figure<Times>,
    /// See [`super::model::LineCosts::respin`].
    pub respin: Figure<Ns>,
}

/// `[cpu]`; see [`super::model::CpuCosts`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// One `cpu_relax()`.
    pub relax: Figure<Ns>,
    /// A call of a lock function.
    pub call: Figure<Ns>,
    /// A full fence.
    pub fence: Figure<Ns>,
    /// Stores under way.
    pub store_buffer: Figure<Count>,
    /// How many times as long each of two threads of a core computes; see
    /// [`super::model::Machine::smt`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt_slowdown: Option<Figure<Times>>,
}

/// `[scheduler]`; see [`super::model::SchedulerCosts`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// How long a thread runs.
    pub slice: Figure<Us>,
    /// From a wake-up until the sleeper runs.
    pub wake: Figure<Us>,
    /// What the waker pays.
    pub waker: Figure<Us>,
    /// To switch threads.
    pub switch: Figure<Us>,
    /// See [`super::model::SchedulerCosts::wait_call`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_call: Option<Figure<Ns>>,
    /// See [`super::model::SchedulerCosts::wake_call`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_call: Option<Figure<Ns>>,
}

/// `[hypervisor]`; see [`super::model::HypervisorCosts`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hypervisor {
    /// How long a virtual CPU runs.
    pub slice: Figure<Us>,
    /// From a kick until the halted one runs.
    pub kick: Figure<Us>,
    /// What the kicker pays.
    pub kicker: Figure<Us>,
    /// To switch virtual CPUs.
    pub switch: Figure<Us>,
    /// A kick has the kicked one run next.
    pub directed_yield: bool,
}

/// `[calibration]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// What was fitted to: table and column.
    pub rows: Vec<String>,
    /// What was fitted: section and field.
    pub fitted: Vec<String>,
    /// Where the search began: a number for each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub start: BTreeMap<String, f64>,
}

/// `[[boost]]`: up to so many active cores of a socket run at this clock.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Boost {
    /// Active cores, at most.
    pub cores: Spanned<i64>,
    /// Their clock.
    pub clock: Figure<Ghz>,
}

/// `[[smt]]`: so many threads of a core compute, each so much slower than one alone.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Smt {
    /// Threads that compute, three at least.
    pub threads: Spanned<i64>,
    /// How many times as long each takes.
    pub slowdown: Figure<Times>,
}
