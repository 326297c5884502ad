// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork sim`.

use crate::workload::MOST_THREADS;
use crate::{Clusters, Placement};
use clap::ValueEnum;
use std::path::PathBuf;

/// What `lockwork sim --help` begins with.
pub const HELP: &str = "\
Runs the locks' own C on a simulated NUMA machine: how does a lock behave on a
machine that is not here?

Each simulation is one lock, one number of threads and one seed; the same three
give the same result, bit for bit. Average and CV are over the seeds. Improve is
against the first lock. The tables after the first say why: what each
acquisition cost in memory accesses, how far lines and the lock travelled, and
what the waits were spent on.

A simulation shows what follows from the machine's file and the workload's file,
in which each number has its source or is said to be assumed. It is not a
measurement; `lockwork bench` measures.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if the simulated threads got stuck, 2 for a wrong command line, 125 if
  lockwork itself fails, 130 after Ctrl-C.

Examples:
  lockwork sim
        The micro benchmark on 4 sockets.
  lockwork sim --list
  lockwork sim --lock ticket_lock,qspinlock_fair --threads 1,2,4 --placement per-node
  lockwork sim --workload aim7-disk-ext4 --plot plots
  lockwork sim --workload rw-mix-90 --read-ratio 0.5 --threads 8 --json > raw.jsonl
  lockwork sim --lock mcs_lock --threads 4 --section-ns 100 --timeline trace.json
        Then open trace.json in ui.perfetto.dev.
  lockwork sim --workload ./mine.toml --machine ./server.toml
  lockwork sim --lock mutex --set osq_lock_depth=16 --clusters node";

/// Options of `lockwork sim`.
#[derive(Debug, Clone, clap::Args)]
pub struct SimArgs {
    /// The machine: a name, or a file (with a slash, or ending in .toml).
    #[arg(long, value_name = "NAME|FILE", default_value = "westmere-ex-4s")]
    pub machine: String,
    /// The locks; the first is the one that others are compared with
    /// [default: what the workload says]
    #[arg(long = "lock", value_name = "LOCK", value_delimiter = ',')]
    pub locks: Vec<String>,
    /// What the threads do: a name, or a file (with a slash, or ending in .toml).
    #[arg(long, value_name = "NAME|FILE", default_value = "spin-micro")]
    pub workload: String,
    /// How many threads [default: what the workload says]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = threads)]
    pub threads: Vec<usize>,
    /// On which CPUs the threads start: one CPU after the other; round and round
    /// the NUMA nodes; or one on each node, as long as there are nodes.
    #[arg(long, value_enum, default_value = "compact")]
    pub placement: Where,
    /// Use so many CPUs: the first in the order of --placement [default: all]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub cpus: Option<usize>,
    /// Seeds: simulations of each lock with each number of threads.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// Put a hypervisor under the CPUs, with N virtual CPUs for each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub overcommit: Option<u32>,
    /// What the locks take for a cluster of CPUs: those that share a last-level
    /// cache, or those of a NUMA node.
    #[arg(long, value_enum, default_value = "llc")]
    pub clusters: Cluster,
    /// Set knobs of the locks; may be given several times. The list is below.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Does each thread stay on its CPU? [default: what the workload says]
    #[arg(long, value_enum)]
    pub affinity: Option<Switch>,
    /// The mean time inside the lock, in ns, also of readers; instead of the workload's.
    #[arg(long, value_name = "NS", value_parser = nanoseconds)]
    pub section_ns: Option<f64>,
    /// The mean time between unlock and lock, in ns; instead of the workload's.
    #[arg(long, value_name = "NS", value_parser = nanoseconds)]
    pub think_ns: Option<f64>,
    /// The share of shared acquisitions, 0 to 1; instead of the workload's.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub read_ratio: Option<f64>,
    /// Simulated µs to measure; instead of the workload's.
    #[arg(long, value_name = "US", value_parser = microseconds)]
    pub measure_us: Option<f64>,
    /// Loops of each thread, for workloads that end after a number of them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub loops: Option<u64>,
    /// Print one JSON object for each simulation, raw, instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Draw throughput and p99 waits by threads, as SVG, into DIR.
    #[arg(long, value_name = "DIR")]
    pub plot: Option<PathBuf>,
    /// Write what each thread did to FILE, for Perfetto or chrome://tracing; for
    /// one lock and one number of threads, of the first seed.
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// The part of the measured time that --timeline records, in µs
    /// [default: 0:100]
    #[arg(long, value_name = "FROM:TO", requires = "timeline", value_parser = window)]
    pub window: Option<(f64, f64)>,
    /// Simulations at once [default: one for each CPU of this machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// List locks, their knobs, machines and workloads.
    #[arg(long)]
    pub list: bool,
}

/// On which CPUs the threads start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// One CPU after the other.
    Compact,
    /// Round and round the NUMA nodes.
    Spread,
    /// One on each node, as long as there are nodes; then as spread.
    PerNode,
}

impl Where {
    /// As simulations name it.
    pub(super) fn placement(self) -> Placement {
        match self {
            Where::Compact => Placement::Compact,
            Where::Spread => Placement::Spread,
            Where::PerNode => Placement::PerNode,
        }
    }
}

/// What a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Cluster {
    /// CPUs that share a last-level cache.
    Llc,
    /// CPUs of a NUMA node.
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
    let wrong = || "write FROM:TO in µs, FROM before TO, such as 0:100".to_owned();
    let (from, to) = text.split_once(':').ok_or_else(wrong)?;
    let limits = |text| number(text, 0.0, 1e7).map_err(|_| wrong());
    match (limits(from)?, limits(to)?) {
        (from, to) if from < to => Ok((from, to)),
        _ => Err(wrong()),
    }
}
