// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork sim`.

use crate::machine::DirectedYield;
use crate::workload::MOST_THREADS;
use crate::{Clusters, Placement, Vcpus};
use clap::ValueEnum;
use std::path::PathBuf;

/// What `lockwork sim --help` begins with.
pub const HELP: &str = "\
Runs the C code of the locks on a simulated NUMA machine. It predicts how a lock
behaves on a machine that you do not have.

A simulation has one kind of lock, one number of threads and one seed. It is
deterministic: the same three give exactly the same result. Average and CV are
computed over the seeds. Improve compares a lock with the first lock. The tables
after the first explain the result: the memory accesses of an acquisition, the
distance that cache lines and the lock moved, and how the waits were spent.

The result follows from the machine's file and the workload's file. In these
files each number has a source or is marked as assumed. A simulation is not a
measurement; `lockwork bench` measures.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if the simulated threads got stuck, 2 for a wrong command line, 125 if
  lockwork itself fails, 130 after Ctrl-C.

Examples:
  lockwork sim
        A micro benchmark of spinlocks on 4 sockets.
  lockwork sim --list
  lockwork sim --lock ticket_lock,qspinlock_fair --threads 1,2,4 --placement per-node
  lockwork sim --workload aim7-disk-ext4 --plot plots
  lockwork sim --workload rw-mix-90 --read-ratio 0.5 --threads 8 --json > raw.jsonl
  lockwork sim --workload rw-mix-90 --lock rwlock,qrwlock --section-ns 50,200,1000
        The gain by the length of the section.
  lockwork sim --lock mcs_lock --threads 4 --section-ns 100 --timeline trace.json
        Then open trace.json in ui.perfetto.dev.
  lockwork sim --workload ./mine.toml --machine ./server.toml
  lockwork sim --locks all --machine epyc-9654 --threads 1,8,64,192 --workload fxmark-dwom
  lockwork sim --lock qspinlock_steal --threads 8 --cpus 4 --overcommit 2 --vms 2
        Two virtual machines that share 4 CPUs.
  lockwork sim --lock mutex_numa --set osq_lock_depth=16 --clusters node";

/// Options of `lockwork sim`.
#[derive(Debug, Clone, clap::Args)]
pub struct SimArgs {
    /// The machine: a name from --list, or a file (its name has a slash or ends in
    /// .toml).
    #[arg(long, value_name = "NAME|FILE", default_value = "westmere-ex-4s")]
    pub machine: String,
    /// The locks: names from --list, or ours, rivals (published locks that only
    /// simulations have) or all. The others are compared with the first [default: the
    /// workload's]
    #[arg(
        long = "lock",
        visible_alias = "locks",
        value_name = "LOCK",
        value_delimiter = ','
    )]
    pub locks: Vec<String>,
    /// What the threads do: a name from --list, or a file (its name has a slash or
    /// ends in .toml).
    #[arg(long, value_name = "NAME|FILE", default_value = "spin-micro")]
    pub workload: String,
    /// Number of threads, up to that of the machine's CPUs; any number with
    /// --overcommit or --cpus [default: the workload's]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = threads)]
    pub threads: Vec<usize>,
    /// The CPUs on which the threads start.
    #[arg(long, value_enum, default_value = "compact")]
    pub placement: Where,
    /// Number of CPUs to use, in the order of --placement [default: all]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub cpus: Option<usize>,
    /// Number of seeds: simulations of each lock with each number of threads.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// Simulate a hypervisor that runs N virtual CPUs on each CPU.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub overcommit: Option<u32>,
    /// What a kick of a halted virtual CPU makes the hypervisor do [default: the
    /// machine's, which is on or off]
    #[arg(long, value_enum, requires = "overcommit")]
    pub directed_yield: Option<Yields>,
    /// Number of virtual machines. Each has its share of the virtual CPUs and of the
    /// threads, and a lock of its own [default: 1]
    #[arg(long, value_name = "N", requires = "overcommit")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=16))]
    pub vms: Option<u32>,
    /// Whether virtual CPUs stay on their CPU [default: pinned]
    #[arg(long, value_enum, requires = "overcommit")]
    pub vcpus: Option<VirtualCpus>,
    /// Which CPUs form a cluster for the locks.
    #[arg(long, value_enum, default_value = "llc")]
    pub clusters: Cluster,
    /// Set knobs of the locks. The option may be given several times; the list of
    /// knobs is below.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Whether each thread stays on its CPU [default: the workload's]
    #[arg(long, value_enum)]
    pub affinity: Option<Switch>,
    /// Mean time in the critical section, in ns, also for readers; a list makes a table
    /// by length [default: the workload's]
    #[arg(long, value_name = "NS", value_delimiter = ',', value_parser = nanoseconds)]
    pub section_ns: Vec<f64>,
    /// Mean time between unlock and the next lock, in ns [default: the workload's]
    #[arg(long, value_name = "NS", value_parser = nanoseconds)]
    pub think_ns: Option<f64>,
    /// Share of the acquisitions that are shared, 0 to 1; a list makes a table by share
    /// [default: the workload's]
    #[arg(long, value_name = "SHARE", value_delimiter = ',', value_parser = share)]
    pub read_ratio: Vec<f64>,
    /// Whether the lock is in the first line of its data, as a field of what it guards, or
    /// in a line of its own [default: the workload's]
    #[arg(long, value_enum)]
    pub embedded: Option<Switch>,
    /// Time that a static key ahead of the lock adds to each acquisition, in ns [default:
    /// 0]
    #[arg(long, value_name = "NS", value_parser = nanoseconds)]
    pub static_key_ns: Option<f64>,
    /// Simulated time to measure, in µs [default: the workload's]
    #[arg(long, value_name = "US", value_parser = microseconds)]
    pub measure_us: Option<f64>,
    /// Leave a rule of the model out, to see what it does to the result: see `lockwork
    /// reproduce --help`. The option may be given several times
    #[arg(long, value_name = "RULE")]
    pub without: Vec<String>,
    /// Lengthen warm-up and measured time until the result is a steady state, or 30
    /// million memory operations are simulated.
    #[arg(long, conflicts_with = "timeline")]
    pub settle: bool,
    /// Number of loops of each thread, for workloads that end after a fixed number
    /// [default: the workload's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub loops: Option<u64>,
    /// Print one JSON object with the raw numbers of each simulation, not tables.
    #[arg(long)]
    pub json: bool,
    /// Write SVG charts of throughput and p99 wait by threads into DIR.
    #[arg(long, value_name = "DIR")]
    pub plot: Option<PathBuf>,
    /// Write what each thread does to FILE, for Perfetto or chrome://tracing. Needs
    /// one lock and one number of threads; the first seed is recorded.
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// The part of the measured time that --timeline records, in µs
    /// [default: 0:100]
    #[arg(long, value_name = "FROM:TO", requires = "timeline", value_parser = window)]
    pub window: Option<(f64, f64)>,
    /// Simulations that run at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// List the locks, their knobs, the machines and the workloads.
    #[arg(long)]
    pub list: bool,
}

/// On which CPUs the threads start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// In the order of the CPU numbers.
    Compact,
    /// Round-robin over the NUMA nodes.
    Spread,
    /// Round-robin over the CPUs that share a last-level cache, and over the nodes.
    SpreadClusters,
    /// One thread on each node; further threads as with `spread`.
    PerNode,
}

impl Where {
    /// As simulations name it.
    pub(super) fn placement(self) -> Placement {
        match self {
            Where::Compact => Placement::Compact,
            Where::Spread => Placement::Spread,
            Where::SpreadClusters => Placement::SpreadClusters,
            Where::PerNode => Placement::PerNode,
        }
    }
}

/// What a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Cluster {
    /// The CPUs that share a last-level cache.
    Llc,
    /// The CPUs of a NUMA node.
    Node,
}

impl Cluster {
    /// As simulations name it.
    pub(super) fn clusters(self) -> Clusters {
        match self {
            Cluster::Llc => Clusters::Llc,
            Cluster::Node => Clusters::Node,
        }
    }
}

/// What a kick makes the hypervisor do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Yields {
    /// It runs the kicked one at once, in place of the one that has the CPU.
    On,
    /// The kicked one waits for its turn.
    Off,
    /// If the kicker has the CPU, it runs the kicked one for the rest of the kicker's
    /// slice; otherwise the kicked one is the next.
    Donate,
}

impl Yields {
    /// As machines name it.
    pub(super) fn directed(self) -> DirectedYield {
        match self {
            Yields::On => DirectedYield::On,
            Yields::Off => DirectedYield::Off,
            Yields::Donate => DirectedYield::Donate,
        }
    }
}

/// Whether virtual CPUs move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VirtualCpus {
    /// Each has one CPU.
    Pinned,
    /// They move to CPUs that are idle or have fewer to run.
    Migrate,
}

impl VirtualCpus {
    /// As simulations name it.
    pub(super) fn vcpus(self) -> Vcpus {
        match self {
            VirtualCpus::Pinned => Vcpus::Pinned,
            VirtualCpus::Migrate => Vcpus::Migrate,
        }
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

fn number(text: &str, min: f64, max: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(format!("it must be a number from {min} to {max}")),
    }
}

fn nanoseconds(text: &str) -> Result<f64, String> {
    number(text, 0.0, 1e10)
}

fn microseconds(text: &str) -> Result<f64, String> {
    number(text, 1e-3, 1e7)
}

fn share(text: &str) -> Result<f64, String> {
    number(text, 0.0, 1.0)
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(number) if (1..=MOST_THREADS).contains(&number) => Ok(number),
        _ => Err(format!("it must be a number from 1 to {MOST_THREADS}")),
    }
}

fn window(text: &str) -> Result<(f64, f64), String> {
    let wrong =
        || "write FROM:TO in µs, FROM before TO, such as 0:100; at most 10000000".to_owned();
    let (from, to) = text.split_once(':').ok_or_else(wrong)?;
    let limits = |text| number(text, 0.0, 1e7).map_err(|_| wrong());
    match (limits(from)?, limits(to)?) {
        (from, to) if from < to => Ok((from, to)),
        _ => Err(wrong()),
    }
}
