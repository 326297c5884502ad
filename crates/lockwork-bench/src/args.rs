// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork bench`.
use crate::sample::Calls;
use crate::work::{Outside, Work};
use std::path::PathBuf;

/// What `lockwork bench --help` begins with.
pub const HELP: &str = "\
Measures locks themselves: Lockwork's and those of other libraries, in one
process, in the same loop, called in the same way.

Each combination of --threads, --inside, --outside and --reads is a cell. In a
cell every lock is run once a round, in an order shuffled anew; a round is fresh
locks, and threads that start together. Each wait is timed. Ratio is a lock's
throughput over that of the best lock of another library in its family, taken
round by round: the median and the quartiles.

Throughput never stands alone: beside it are Jain's fairness index, waits, CPU
time and context switches. The last section says where Lockwork's locks are not
on the front of throughput and p99.9 wait, and who is ahead.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if a lock hung or let two threads in, 2 for a wrong command line, 125
  if lockwork itself fails, 130 after Ctrl-C.

Examples:
  lockwork bench
        The mutexes, with fewer and more threads than CPUs.
  lockwork bench --locks spin --threads 2,8 --inside 0,1us --outside 1x,10x
  lockwork bench --locks rw --reads 50,99 --inside 4lines
  lockwork bench --locks lockwork.mutex,glibc.mutex --json raw.jsonl
  lockwork bench --locks lockwork.mutex_numa --threads 16 --events
        What did it do in its slow paths?
  lockwork bench --from raw.jsonl
  lockwork bench --preset single-thread
  lockwork bench --preset sweep --json sweep.jsonl --plots plots
  lockwork bench --resume sweep.jsonl";

/// What says how to measure, for where that is settled already.
const MEASURING: [&str; 19] = [
    "locks", "threads", "inside", "outside", "reads", "pin", "objects", "rounds", "time", "set",
    "preset", "quick", "loops", "calls", "baseline", "json", "seed", "list", "events",
];

/// Options of `lockwork bench`.
#[derive(Debug, Clone, clap::Args)]
pub struct BenchArgs {
    /// The locks: names, or a family (mutex, spin, rw), a library (lockwork,
    /// glibc, …), peers or all; see --list. `mutex` is the family; the lock of
    /// that name is lockwork.mutex [default: mutex, or rw with --reads]
    #[arg(long, value_name = "LOCK", value_delimiter = ',')]
    pub locks: Vec<String>,
    /// How many threads [default: 1, as many as CPUs, and four times as many]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub threads: Vec<u32>,
    /// What a thread does while it holds the lock: a time (100, 100ns, 10us) in
    /// a calibrated loop, or cache lines that it reads and writes (4lines).
    /// [default: 100ns]
    #[arg(long, value_name = "WORK", value_delimiter = ',')]
    pub inside: Vec<Work>,
    /// What it does between two acquisitions: the same, or 10x for ten times
    /// the inside.
    /// [default: 2x]
    #[arg(long, value_name = "WORK", value_delimiter = ',')]
    pub outside: Vec<Outside>,
    /// Percent of acquisitions that are shared; for read/write locks only
    /// [default: 90 with rw locks alone, else 0]
    #[arg(long, value_name = "PCT", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub reads: Vec<u32>,
    /// Keep each thread on one CPU, in turn.
    #[arg(long)]
    pub pin: bool,
    /// Locks, of which each acquisition takes one at random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub objects: u32,
    /// Rounds: each runs every lock once, in an order shuffled anew.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rounds: Option<u32>,
    /// Milliseconds that a round of one lock lasts.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub time: Option<u64>,
    /// Set knobs of Lockwork's locks (repeatable); `lockwork locks` lists them.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Count events in the slow paths of Lockwork's locks, and print their sums by
    /// lock: the same as --set count_events=1. Counting costs something.
    #[arg(long)]
    pub events: bool,
    /// A named measurement, in the form of a published table: spin-micro,
    /// single-thread, locktorture or sweep. Other options change parts of it.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// With --preset sweep: a tenth of the time.
    #[arg(long)]
    pub quick: bool,
    /// With --preset spin-micro or single-thread: how often each task locks and
    /// unlocks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub loops: Option<u64>,
    /// With --preset single-thread: only calls by pointer, or only inlined ones.
    #[arg(long, value_name = "HOW", value_delimiter = ',')]
    pub calls: Vec<Calls>,
    /// With --preset locktorture: the lock that the others are compared with
    /// [default: the first]
    #[arg(long, value_name = "LOCK")]
    pub baseline: Option<String>,
    /// Draw throughput and p99.9 waits by threads, as SVG files in DIR.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Write each round's raw numbers to FILE as they come, as JSON lines; `-` is
    /// standard output, and the tables then go to standard error.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Measure nothing: print what --json FILE holds.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = MEASURING)]
    pub from: Option<PathBuf>,
    /// Go on with the run whose --json FILE this is, with its options, and add
    /// to the file.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = MEASURING)]
    #[arg(conflicts_with = "from")]
    pub resume: Option<PathBuf>,
    /// Seconds without any operation after which a lock counts as hanging.
    #[arg(long, value_name = "S", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub patience: u64,
    /// Fixes the order of locks, and what threads choose at random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// List the locks, the peers with their versions, and what is absent.
    #[arg(long)]
    pub list: bool,
}
