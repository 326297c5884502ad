// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork bench`.
use crate::sample::Calls;
use crate::work::{Outside, Work};
use std::path::PathBuf;

/// What `lockwork bench --help` begins with.
pub const HELP: &str = "\
Measures Lockwork's locks beside those of other libraries. All locks run in one
process, in the same loop, and are called in the same way.

Each combination of --threads, --inside, --outside and --reads is a case. Each
round of a case runs every lock once, in an order that is shuffled again for each
round. Each round creates new locks, and its threads start together. Every wait
is timed. Ratio is a lock's throughput divided by that of the best lock of
another library in the same family. It is computed for each round; the table has
a mean, without the rounds that are far off, and its 95 % interval. The odd
rounds choose the best lock that the even rounds compare with, and the even
rounds choose for the odd ones. The largest of several noisy numbers is partly
luck, so no round chooses what it is compared with.

Beside throughput the tables have Jain's fairness index, waits, CPU time and
context switches. The last section says where a Lockwork lock is not on the
Pareto front of throughput and p99.9 wait, and which locks are ahead of it. It
ends with the geometric mean of the ratios and its interval, the worst case, CPU
time beside the best peer's, and which change two such runs tell apart.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if a lock hung or let two threads in, 2 for a wrong command line, 125
  if lockwork itself fails, 130 after Ctrl-C.

Examples:
  lockwork bench
        The mutexes, with fewer threads than CPUs, as many, and more.
  lockwork bench --locks spin --threads 2,8 --inside 0,1us --outside 1x,10x
  lockwork bench --locks rw --reads 50,99 --inside 4lines
  lockwork bench --locks lockwork.mutex,glibc.mutex --json raw.jsonl
  lockwork bench --locks lockwork.mutex_numa --threads 16 --events
        Which events occur in its slow paths?
  lockwork bench --from raw.jsonl
  lockwork bench --preset single-thread
  lockwork bench --preset sweep --json sweep.jsonl --plots plots
  lockwork bench --preset sweep --quick
        Before a change of the mutex and after it: did it bring 5 %?
  lockwork bench --resume sweep.jsonl";

/// The options that say what to measure. --from and --resume take this from the file.
const MEASURING: [&str; 19] = [
    "locks", "threads", "inside", "outside", "reads", "pin", "objects", "rounds", "time", "set",
    "preset", "quick", "loops", "calls", "baseline", "json", "seed", "list", "events",
];

/// Options of `lockwork bench`.
#[derive(Debug, Clone, clap::Args)]
pub struct BenchArgs {
    /// The locks: names, families (mutex, spin, rw), libraries (lockwork, glibc,
    /// …), `peers` or `all`; see --list. `mutex` is the family; the lock named
    /// mutex is `lockwork.mutex` [default: mutex, or rw with --reads]
    #[arg(
        long,
        visible_alias = "lock",
        value_name = "LOCK",
        value_delimiter = ','
    )]
    pub locks: Vec<String>,
    /// Number of threads [default: 1; the number of CPUs; 4 times that number]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub threads: Vec<u32>,
    /// What a thread does while it holds the lock: a time (100, 100ns, 10us) in
    /// a calibrated loop, or cache lines that it reads and writes (4lines).
    /// [default: 100ns]
    #[arg(long, value_name = "WORK", value_delimiter = ',')]
    pub inside: Vec<Work>,
    /// What a thread does between two acquisitions: a time or lines as for
    /// --inside, or a multiple of the inside (10x).
    /// [default: 2x]
    #[arg(long, value_name = "WORK", value_delimiter = ',')]
    pub outside: Vec<Outside>,
    /// Percentage of acquisitions that are shared; for read/write locks only
    /// [default: 90 if all locks are read/write locks, else 0]
    #[arg(long, value_name = "PCT", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub reads: Vec<u32>,
    /// Bind each thread to one CPU, round-robin.
    #[arg(long)]
    pub pin: bool,
    /// Number of lock objects. Each acquisition takes one of them at random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub objects: u32,
    /// Number of rounds [default: 5, or the preset's]. Each round runs every lock once, in a
    /// shuffled order.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rounds: Option<u32>,
    /// Milliseconds that each lock runs in a round [default: 200, or the preset's].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub time: Option<u64>,
    /// Set knobs of Lockwork's locks (repeatable); `lockwork locks` lists them.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Count events in the slow paths of Lockwork's locks and print the sums for
    /// each lock. The same as --set count_events=1. Counting costs some time.
    #[arg(long)]
    pub events: bool,
    /// Run a predefined measurement with the form of a published table:
    /// spin-micro, single-thread, locktorture or sweep. Other options change parts
    /// of it.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// With --preset sweep: measure only the mutexes, in less than 15 minutes. The result
    /// is the geometric mean over the cases. The report says which change of it two such
    /// runs tell apart.
    #[arg(long)]
    pub quick: bool,
    /// With --preset spin-micro or single-thread: number of times that each thread
    /// locks and unlocks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub loops: Option<u64>,
    /// With --preset single-thread: how the lock is called [default: both].
    #[arg(long, value_name = "HOW", value_delimiter = ',')]
    pub calls: Vec<Calls>,
    /// With --preset locktorture: the lock that the others are compared with
    /// [default: the first]
    #[arg(long, value_name = "LOCK")]
    pub baseline: Option<String>,
    /// Write SVG charts of throughput and p99.9 wait by threads into DIR.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Write the raw numbers of each round to FILE as JSON lines, as soon as the
    /// round ends. A FILE with rounds of an earlier run is refused. With `-`, JSON
    /// goes to standard output and the tables to standard error.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Print the tables of FILE, written by --json. Nothing is measured.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = MEASURING)]
    pub from: Option<PathBuf>,
    /// Continue an interrupted run whose --json file is FILE, with the options of
    /// that run. New rounds are appended to FILE.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = MEASURING)]
    #[arg(conflicts_with = "from")]
    pub resume: Option<PathBuf>,
    /// Seconds without any operation after which a lock is reported as hanging
    /// [default: 60, or with --resume what the run had]
    #[arg(long, value_name = "S")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub patience: Option<u64>,
    /// Seed of the order of locks and of the threads' random choices.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// List Lockwork's locks, those of other libraries with their versions, and the
    /// libraries that are missing.
    #[arg(long)]
    pub list: bool,
}
