// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line. The help texts are also the man pages.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  lockwork compare -- ./server --bench
        Does another lock make this program faster? No code changes.
  lockwork run --lock qspinlock_steal -- ./server
        Run it with that lock from now on.
  lockwork locks
        What there is to choose from.";

const RUN_HELP: &str = "\
Runs a program with another lock under it.

The program's pthread mutexes, condition variables, read/write locks and
spinlocks, and the C11 ones, are replaced while it runs; the program itself is
not changed. lockwork becomes the program (exec), so its exit status, signals,
standard streams and environment are its own; LD_PRELOAD, LOCKWORK_LOCK and
LOCKWORK_SET are all that is added.

Programs that cannot be helped are refused before they start: statically linked
ones, setuid ones, ones for another machine or another C library.";

const RUN_AFTER: &str = "\
Exit status:
  that of the program; or 125 if lockwork itself fails, 126 if the program
  cannot be executed, 127 if it cannot be found.

Examples:
  lockwork run -- ./server --port 8080
  lockwork run --lock qspinlock_steal -- python3 job.py
  lockwork run --lock mutex --set spin_budget=0 -- make -j8 check
  lockwork run --lock mutex_numa --set count_events=2 -- ./server";

const COMPARE_HELP: &str = "\
Runs a program several times under each of several locks, and says what the
measurements support, and no more.

Runs are interleaved in rounds: each round runs every lock once, in an order
shuffled anew (by --seed), so that neither drift of the machine nor a lock's
place in the order favours one of them. Warm-up rounds are not counted. Two arms
are always there: glibc, the program as it is; and glibc_passthrough, glibc's own
locks behind an interposer, which shows what interposition itself costs.

Improve is how much better than glibc: +100 % is twice the throughput, or half
the time. Its 95 % interval comes from resampling whole rounds (a paired
bootstrap, never narrower than Student's t on the same rounds). The verdict is
about several locks at once, so it uses wider intervals: 95 % for all of them
together (Bonferroni). With fewer than three rounds there is no interval, and
nothing is claimed.

A lock under which the program takes more than --timeout-factor times as long
as glibc's slowest run is stopped and reported so; it is left out of later
rounds. Whatever the program leaves running in its process group when it ends
is stopped, so that it cannot disturb the next run.

Without a program, an embedded one is measured: a sharded key-value cache under
skewed load (see lockwork workload).";

const COMPARE_AFTER: &str = "\
Exit status:
  0; or 1 if the program failed, 2 for a wrong command line, 125 if lockwork
  itself fails, 126 or 127 if the program cannot be executed or found, 130
  after Ctrl-C.

Examples:
  lockwork compare
  lockwork compare -n 20 -- ./server --bench
  lockwork compare --metric 'rate: ([0-9.]+)' -- ./bench
  lockwork compare --locks mutex,mutex:spin_budget=0 --json result.json -- ./app";

const CHECK_HELP: &str = "\
Checks the locks' own C, as it ships, in every interleaving within a bound.

Each client, a small program that uses a lock, is run under a model checker: in
all orders in which its threads' accesses can happen, and with all values that
weakly ordered loads may then see, as far as the bound goes. A bound of 3x2@2 is
3 threads that acquire twice each, with 2 preemptions in all. Then a fuzzer runs
more threads at random. Every plain access is watched for races, and every wait
for deadlocks and lost wake-ups.

A pass means: nothing went wrong in any execution within the bound. What took
too long did not pass. --mutants shows what a pass is worth: it weakens every
ordering of the locks, one at a time, and breaks steps of their logic; a client
must find each, unless a note beside the code says why none can.

Each run is a process of its own, so a crash or a hang is a verdict.";

const CHECK_AFTER: &str = "\
Exit status:
  0; or 1 if a run failed or took too long, or if a mutant survives without a
  reason; 2 for a wrong command line, 125 if lockwork itself fails, 130 after
  Ctrl-C.

Examples:
  lockwork check
  lockwork check qspinlock_fair --bound 4x1@3
  lockwork check mutex --client timed --mutants
  lockwork check --tag tas.B --trace
        How does the lock fail if this ordering is weaker?
  lockwork check --deep --json > night.json
  lockwork check --pairs .
        Does every ordering of this source tree say what it pairs with?";

/// Try the Linux kernel's scalable locks under an unmodified program.
#[derive(Debug, Parser)]
#[command(name = "lockwork", version, max_term_width = 90, after_help = EXAMPLES)]
#[command(arg_required_else_help = true)]
#[command(mut_subcommand("sim", |sim| sim.defer(with_knobs)))]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program with another lock under it.
    #[command(long_about = RUN_HELP, after_help = RUN_AFTER)]
    #[command(override_usage = "lockwork run [OPTIONS] [--] PROGRAM [ARGS]…")]
    Run(RunArgs),
    /// Measure a program under several locks and say which is best, if any.
    #[command(long_about = COMPARE_HELP, after_help = COMPARE_AFTER)]
    #[command(override_usage = "lockwork compare [OPTIONS] [--] [PROGRAM [ARGS]…]")]
    Compare(CompareArgs),
    /// List the locks and their knobs.
    Locks,
    /// Run the embedded workload: a sharded key-value cache under skewed load.
    Workload(WorkloadArgs),
    /// Torture the locks themselves: check what each of them promises.
    Torture(lockwork_torture::TortureArgs),
    /// Model-check the locks: every interleaving within a bound.
    #[command(long_about = CHECK_HELP, after_help = CHECK_AFTER)]
    Check(lockwork_check::CheckArgs),
    /// Measure locks: every one of the catalogue and its peers, in one loop.
    #[command(long_about = lockwork_bench::HELP, after_help = lockwork_bench::AFTER_HELP)]
    Bench(lockwork_bench::BenchArgs),
    /// Simulate locks: their own C on a NUMA machine that is not here.
    #[command(long_about = lockwork_sim::HELP)]
    Sim(Box<lockwork_sim::SimArgs>),
    /// Simulate published measurements, and print both: is the simulator right?
    #[command(long_about = lockwork_sim::reproduce::HELP)]
    #[command(after_help = lockwork_sim::reproduce::AFTER_HELP)]
    Reproduce(lockwork_sim::reproduce::ReproduceArgs),
    /// Machines to simulate: list, show, check them, and measure this one.
    #[command(long_about = lockwork_sim::machine::HELP)]
    #[command(after_help = lockwork_sim::machine::AFTER_HELP)]
    Machine(lockwork_sim::machine::MachineArgs),
    /// One run of `check`, asked for on standard input.
    #[command(hide = true)]
    CheckWorker,
    /// Print the path of the interposer, for setting LD_PRELOAD by hand.
    PreloadPath(PreloadPathArgs),
    /// Write the man pages into a directory.
    #[command(hide = true)]
    Man(ManArgs),
}

/// Options of `lockwork run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The lock to use; `lockwork locks` lists them.
    #[arg(long, value_name = "NAME", default_value = crate::policy::DEFAULT)]
    pub lock: String,
    /// Set knobs of the lock; may be given several times.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true)]
    #[arg(value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// What happens to the program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// It is shown.
    Inherit,
    /// It goes to /dev/null.
    Null,
    /// It is read and kept for messages, as for a --metric.
    Pipe,
}

/// Options of `lockwork compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The locks to compare with glibc, as NAME or NAME:KNOB=VALUE[:KNOB=VALUE…].
    #[arg(long, value_name = "LOCK", value_delimiter = ',')]
    pub locks: Vec<String>,
    /// Set knobs in every lock that does not set them itself; may be given several
    /// times.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// How many rounds: runs of each lock.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: u32,
    /// How many rounds to run first that do not count.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub warmup: u32,
    /// What to measure: `wall`, the time a run takes; or a regular expression
    /// whose only group is a number in the program's output. The last match
    /// counts (of the last 4 MiB), and commas in the number are allowed.
    #[arg(long, value_name = "wall|REGEX")]
    pub metric: Option<String>,
    /// More is better (the default for a REGEX).
    #[arg(long, conflicts_with = "lower_is_better")]
    pub higher_is_better: bool,
    /// Less is better (the default for wall).
    #[arg(long)]
    pub lower_is_better: bool,
    /// Write everything, with each run's raw numbers, to FILE; `-` is standard
    /// output, and the table then goes to standard error.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Stop a run that takes this many times as long as glibc's slowest, plus
    /// one second.
    #[arg(long, value_name = "F", default_value_t = 10.0, value_parser = factor)]
    pub timeout_factor: f64,
    /// Where the program's output goes; a REGEX metric needs `pipe`, which is
    /// then the default. Otherwise it is `null`.
    #[arg(long, value_enum)]
    pub output: Option<Output>,
    /// A file for the program's standard input; without it, /dev/null.
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// Fixes the order of runs and the resampling.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Go on when the program fails. An exit code other than 0 still counts as
    /// a sample, with a warning; a crash does not.
    #[arg(long)]
    pub ignore_failure: bool,
    /// The program and its arguments; without it, the embedded workload.
    #[arg(trailing_var_arg = true)]
    #[arg(value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Options of `lockwork workload`.
#[derive(Debug, Args)]
pub struct WorkloadArgs {
    /// Threads; without it, four for each CPU.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Shards, each a hash table under one mutex.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub shards: u32,
    /// Operations, in all threads together.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub ops: u64,
    /// Different keys.
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub keys: u32,
    /// Entries that the cache holds; without it, half as many as there are keys.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub capacity: Option<u32>,
    /// The share of reads, 0 to 1; the rest are writes.
    #[arg(long, value_name = "R", default_value_t = 0.9, value_parser = ratio)]
    pub read_ratio: f64,
    /// How uneven the keys' popularity is (Zipf's exponent); 0 is even.
    #[arg(long, value_name = "S", default_value_t = 0.99, value_parser = skew)]
    pub skew: f64,
    /// Seeds the choice of keys.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Options of `lockwork preload-path`.
#[derive(Debug, Args)]
pub struct PreloadPathArgs {
    /// The control arm, which hands every call on to glibc.
    #[arg(long)]
    pub passthrough: bool,
}

/// Options of `lockwork man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Where to write the pages.
    pub dir: PathBuf,
}

/// Loads the simulated locks to list their knobs: for who runs this subcommand only.
fn with_knobs(sim: clap::Command) -> clap::Command {
    sim.after_help(lockwork_sim::after_help())
}

fn between(text: &str, min: f64, max: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(format!("it must be a number from {min} to {max}")),
    }
}

fn ratio(text: &str) -> Result<f64, String> {
    between(text, 0.0, 1.0)
}

fn skew(text: &str) -> Result<f64, String> {
    between(text, 0.0, 5.0)
}

fn factor(text: &str) -> Result<f64, String> {
    between(text, 1.0, 1e6)
}
