// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The options of `lockwork predict`.

use std::path::PathBuf;

/// The long help.
pub const HELP: &str = "\
Predicts how a program would do with other locks, more threads and other machines,
from a profile of it.

FILE is what `lockwork profile -o FILE -- PROGRAM` wrote. First come the share of
their time that threads waited for locks, and what would be won if they did not wait
at all (Amdahl's law). If that is next to nothing, there is nothing to predict.

Otherwise each hot lock becomes a workload of the simulator: sections as long as the
profile's histogram says, thinking times, readers. It is simulated with a model of
glibc's lock and with each policy, for each number of threads, on each machine. The
result is acquisitions a second, and the ratio to glibc, with a band: from the least
simulation to the greatest, widened by the simulator's own measured error.

It is a simulation, and depends on assumptions, which are printed. Locks are predicted
one by one, as if the others cost nothing. `lockwork compare` measures.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0, also if there is nothing to predict; or 1 if simulated threads got stuck, 2 for a
  wrong command line, 125 if FILE cannot be read, is no profile or lacks 10 % of the
  acquisitions (its disk was full), 130 after Ctrl-C.

Examples:
  lockwork profile -o app.prof -- ./app --threads 2
  lockwork predict app.prof --machine epyc-9654 --threads 8,64,192
  lockwork predict app.prof --machine vm-2cpu,graviton-3 --json > app.json
  lockwork predict app.prof --machine graviton-3 --workloads here
  lockwork sim --workload here/app-1.toml --machine graviton-3
        Look closer at one of the workloads.";

/// Options of `lockwork predict`.
#[derive(Clone, Debug, clap::Args)]
pub struct PredictArgs {
    /// The file that `lockwork profile` wrote.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The machines: names from `lockwork machine list`, or files (with a slash, or
    /// ending in .toml).
    #[arg(
        long = "machine",
        visible_alias = "machines",
        value_name = "NAME|FILE",
        value_delimiter = ',',
        required = true
    )]
    pub machines: Vec<String>,
    /// Numbers of threads [default: 2, 4, 8 and so on, up to twice the machine's CPUs]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// The locks to predict, beside glibc [default: all policies]
    #[arg(
        long,
        visible_alias = "lock",
        value_name = "LOCK",
        value_delimiter = ','
    )]
    pub locks: Vec<String>,
    /// How many of the program's locks to predict, at most.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    pub top: u32,
    /// Number of seeds: simulations of each lock with each number of threads.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Write the workload of each lock into DIR, as a file for `lockwork sim`.
    #[arg(long, value_name = "DIR")]
    pub workloads: Option<PathBuf>,
    /// Simulations that run at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
}
