// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line. The help texts are also the man pages.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  lockwork compare -- ./server --bench
        Does another lock make this program faster? No code changes.
  lockwork run --lock qspinlock_steal -- ./server
        Run the program with that lock.
  lockwork profile -- ./server --bench
        Which of its locks is slow, and why?
  lockwork locks
        Which locks and knobs are there?";

const RUN_HELP: &str = "\
Runs an unmodified program with Lockwork's locks instead of glibc's.

While the program runs, Lockwork replaces its pthread mutexes, condition
variables, read/write locks and spinlocks, and the C11 mutexes and condition
variables. The program's file is not changed. lockwork replaces itself by the
program (exec). So the exit status, signals, standard streams and environment
are those of the program; only LD_PRELOAD, LOCKWORK_LOCK and LOCKWORK_SET are
added.

With --count lockwork stays the program's parent, passes signals on, and says at
the end what the program and its child processes did with their locks. Then the
exit status of a program that signal N ended is 128 + N.

lockwork refuses programs whose locks it cannot replace, before they start:
statically linked programs, setuid programs, programs with file capabilities, and
programs for another machine or another C library.";

const RUN_AFTER: &str = "\
Exit status:
  that of the program; or 125 if lockwork itself fails or its own options are
  wrong, 126 if the program cannot be executed, 127 if it cannot be found.

Examples:
  lockwork run -- ./server --port 8080
  lockwork run --lock qspinlock_steal -- python3 job.py
  lockwork run --lock mutex --set spin_budget=0 -- make -j8 check
  lockwork run --count -- ./server --bench
  lockwork run --lock mutex_numa --set count_events=2 -- ./server";

const PROFILE_HELP: &str = "\
Runs a program once, records what it does with its locks, and prints a report:
the few locks that threads waited for most, why, and what to try.

The program needs no change, and lockwork no privilege. A recorder replaces its
pthread and C11 lock calls and hands each on to glibc's locks, or to the lock
that --lock names. For each lock and call site it counts acquisitions, contended
ones, how long threads waited and held, who held the lock meanwhile, and how long
hand-overs took. The figures are in FILE while they are made, so a program that
is killed loses none. `lockwork report FILE` shows them at any time, also while
the program runs.

Processes that the program forks or executes record into FILE.PID. The report has
one part for each process that used locks. It goes to standard error.

On a full disk the program goes on at nearly its speed. What there is no room for
is counted, and the report says how many acquisitions are in no lock's figures.

lockwork refuses programs whose locks it cannot see, before they start:
statically linked programs, setuid programs, programs for another machine or
another C library, and programs built with ThreadSanitizer or MemorySanitizer.";

const PROFILE_AFTER: &str = "\
Exit status:
  that of the program, 128 and the signal's number if a signal ended it; or 125 if
  lockwork itself fails or its own options are wrong, 126 if the program cannot be
  executed, 127 if it cannot be found.

Examples:
  lockwork profile -- ./server --bench
  lockwork profile -o before.prof --lock mutex -- ./app
  lockwork report before.prof --json";

const COMPLETIONS_AFTER: &str = "\
Examples:
  lockwork completions bash >~/.local/share/bash-completion/completions/lockwork
  lockwork completions zsh >~/.zfunc/_lockwork
        With ~/.zfunc in $fpath, before compinit.
  lockwork completions fish >~/.config/fish/completions/lockwork.fish";

const COMPARE_HELP: &str = "\
Runs a program several times with each of several locks, and reports which
differences between the locks the measurements support.

Runs are grouped in rounds. Each round runs every lock once. Every second order is
shuffled (by --seed), and the next round has it backwards. So neither drift of the
machine nor the order favours a lock. Warm-up rounds are not counted. Two arms are
added: glibc is the unchanged program; glibc_passthrough is an interposer that
only forwards the calls to glibc, and shows what interposition costs. (A suite has
the second one only if it names it.)

Improve says how much better than glibc a lock is: +100 % is twice the
throughput, or half the time. Its 95 % interval comes from a paired bootstrap
that resamples whole rounds; it is never narrower than Student's t interval on
the same rounds. The verdict makes several comparisons with glibc, one for each
lock and one for the control, so it uses wider intervals, which hold with 95 %
confidence for all comparisons together (Bonferroni). With fewer than three
rounds there is no interval and no claim.

If a run takes more than --timeout-factor times as long as glibc's slowest run,
it is stopped. The table says so, and later rounds leave that lock out. When the
program ends, lockwork stops every process that is left in its process group, so
that none disturbs the next run.

Without a program, compare measures an embedded one: a sharded key-value cache
under skewed load (see lockwork workload).

With --suite, compare measures several programs, each with several numbers of
threads, and prints one table: the ratio of each lock to glibc, with its interval,
and the geometric mean and the worst ratio of each lock. The verdict's intervals
hold for all rows and locks together. A program that is not installed is skipped,
with the name of its package. A program that fails does not end the suite.";

const COMPARE_AFTER: &str = "\
Exit status:
  0; or 1 if the program failed or a lock is worse than --fail-if-worse allows, 2 for a
  wrong command line or suite (an unknown lock or knob, a wrong value or REGEX), 125 if
  lockwork itself fails (a file that cannot be read, for example), 126 if the program
  cannot be executed, 127 if it cannot be found (with --suite: if none can), 128 + N
  after signal N: 130 after Ctrl-C (SIGINT), and 129, 131 or 143 after SIGHUP, SIGQUIT
  or SIGTERM.

Examples:
  lockwork compare
  lockwork compare -n 20 --plot result.svg -- ./server --bench
  lockwork compare -n 20 --html result.html -- ./server --bench
  lockwork compare --metric 'rate: ([0-9.]+)' -- ./bench
  lockwork compare --prepare 'rm -rf db' --timeout 60 -- ./app db
  lockwork compare --locks mutex,mutex:spin_budget=0 --json result.json -- ./app
  lockwork compare -n 20 --locks mutex --fail-if-worse 5 -- ./app
        For CI: fails if the mutex is shown to lose more than 5 %.
  lockwork compare --suite examples/suites/debian.toml --html result.html
        Several programs with several numbers of threads, in one table.";

const CHECK_HELP: &str = "\
Model-checks the C code of the locks, exactly as it ships.

A client is a small program that uses one lock. The model checker runs each
client in every interleaving of its threads' memory accesses, and with every
value that a weakly ordered load may return, within a bound. The bound 3x2@2 is 3
threads, 2 acquisitions by each, and 2 preemptions in total. Then a fuzzer runs
random schedules with more threads. Every plain access is checked for data races,
and every wait for deadlocks and lost wake-ups.

A pass means that no execution within the bound fails. A run that takes too long
is not a pass. --mutants tests the clients: it weakens every ordering of the
locks, one at a time, and breaks steps of their logic. A client must detect each
such mutant, unless a note beside the code says why no client can.

Each run is a separate process. So a crash or a hang becomes a verdict.";

const CHECK_AFTER: &str = "\
Exit status:
  0; or 1 if a run failed or took too long, or if a mutant survives without a
  reason; 2 for a wrong command line, 125 if lockwork itself fails (FILE or DIR
  cannot be read, for example), 130 after Ctrl-C.

Examples:
  lockwork check
  lockwork check qspinlock_fair --bound 4x1@3
  lockwork check mutex --client timed --trace
  lockwork check --tag tas.B --trace
        How does the lock fail if this ordering is weakened?
  lockwork check --deep --json > night.json
  lockwork check --pairs .
        Does every ordering in this source tree name its partner?";

/// Use scalable locks in unmodified programs; measure, check and simulate the locks.
#[derive(Debug, Parser)]
#[command(name = "lockwork", version, max_term_width = 90, after_help = EXAMPLES)]
#[command(arg_required_else_help = true)]
#[command(mut_subcommands(filled))]
#[command(mut_subcommand("sim", |sim| sim.defer(with_knobs)))]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// What `lockwork locks` can be told.
#[derive(Debug, clap::Args)]
pub struct LocksArgs {
    /// List all knobs, also those that are for measurements only.
    #[arg(long)]
    pub expert: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an unmodified program with Lockwork's locks.
    #[command(long_about = RUN_HELP, after_help = RUN_AFTER)]
    #[command(override_usage = "lockwork run [OPTIONS] [--] PROGRAM [ARGS]…")]
    Run(RunArgs),
    /// Measure a program with several locks and report which is best, if any.
    #[command(long_about = COMPARE_HELP, after_help = COMPARE_AFTER)]
    #[command(override_usage = "lockwork compare [OPTIONS] [--] [PROGRAM [ARGS]…]")]
    Compare(CompareArgs),
    /// Record what a program does with its locks, and say which is slow and why.
    #[command(long_about = PROFILE_HELP, after_help = PROFILE_AFTER)]
    #[command(override_usage = "lockwork profile [OPTIONS] [--] PROGRAM [ARGS]…")]
    Profile(ProfileArgs),
    /// Print the report of a profile again, or in another form.
    #[command(long_about = lockwork_profile::HELP, after_help = lockwork_profile::AFTER_HELP)]
    Report(lockwork_profile::ReportArgs),
    /// Say what an acquisition cost and why: simulated, measured, tortured, or in a program.
    #[command(long_about = lockwork_explain::HELP, after_help = lockwork_explain::AFTER_HELP)]
    #[command(
        override_usage = "lockwork explain [OPTIONS] sim|bench|torture [OPTIONS]\n       lockwork explain [OPTIONS] -- PROGRAM [ARGS]…"
    )]
    Explain(Box<lockwork_explain::ExplainArgs>),
    /// Predict what other locks and more threads would do, from a profile.
    #[command(long_about = lockwork_predict::HELP, after_help = lockwork_predict::AFTER_HELP)]
    Predict(lockwork_predict::PredictArgs),
    /// List the locks and their knobs.
    Locks(LocksArgs),
    /// Run the embedded workload: a sharded key-value cache under skewed load.
    Workload(WorkloadArgs),
    /// Test the promises of each lock under heavy load.
    #[command(after_help = lockwork_torture::AFTER_HELP)]
    Torture(lockwork_torture::TortureArgs),
    /// Model-check the locks in every interleaving within a bound.
    #[command(long_about = CHECK_HELP, after_help = CHECK_AFTER)]
    Check(lockwork_check::CheckArgs),
    /// Measure Lockwork's locks beside those of other libraries.
    #[command(long_about = lockwork_bench::HELP, after_help = lockwork_bench::AFTER_HELP)]
    Bench(lockwork_bench::BenchArgs),
    /// Simulate the locks on a NUMA machine.
    #[command(long_about = lockwork_sim::HELP)]
    Sim(Box<lockwork_sim::SimArgs>),
    /// Compare the simulator with published measurements.
    #[command(long_about = lockwork_sim::reproduce::HELP)]
    #[command(after_help = lockwork_sim::reproduce::AFTER_HELP)]
    Reproduce(lockwork_sim::reproduce::ReproduceArgs),
    /// Compare the locks with published ones, on simulated machines.
    #[command(long_about = lockwork_sim::rivals::HELP)]
    #[command(after_help = lockwork_sim::rivals::AFTER_HELP)]
    Rivals(lockwork_sim::rivals::RivalsArgs),
    /// Answer the open questions of the mails that proposed the kernel's locks.
    #[command(long_about = lockwork_answers::HELP)]
    #[command(after_help = lockwork_answers::AFTER_HELP)]
    Answers(lockwork_answers::AnswersArgs),
    /// List, show and validate machines to simulate; measure this machine.
    #[command(long_about = lockwork_sim::machine::HELP)]
    #[command(after_help = lockwork_sim::machine::AFTER_HELP)]
    Machine(lockwork_sim::machine::MachineArgs),
    /// Run the locks inside the Linux kernel, in QEMU, and torture them there.
    #[command(long_about = lockwork_kernel::HELP)]
    Kernel(lockwork_kernel::KernelArgs),
    /// One run of `check`, requested on standard input.
    #[command(hide = true)]
    CheckWorker,
    /// Print the path of the interposer, to set LD_PRELOAD by hand.
    PreloadPath(PreloadPathArgs),
    /// Write the man pages into a directory.
    Man(ManArgs),
    /// Print a script that completes command lines, for a shell to read.
    #[command(after_help = COMPLETIONS_AFTER)]
    Completions(CompletionsArgs),
    /// Write the tables that this program knows into the pages of a checkout.
    #[command(hide = true)]
    Docs(DocsArgs),
}

/// Options of `lockwork run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The lock to use; `lockwork locks` lists the locks.
    #[arg(long, value_name = "NAME", default_value = crate::policy::DEFAULT)]
    pub lock: String,
    /// Set knobs of the lock. The option may be given several times; `lockwork locks`
    /// lists the knobs.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Count its lock calls, and say in the end on standard error how many found their lock held,
    /// or that none was made. Costs what `lockwork profile` does, and is no exec.
    #[arg(long)]
    pub count: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true)]
    #[arg(value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Options of `lockwork profile`.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// Where to record. Child processes that use locks record into FILE.PID.
    #[arg(short, long, value_name = "FILE", default_value = "lockwork.prof")]
    pub output: PathBuf,
    /// The lock to profile the program with; `lockwork locks` lists the locks.
    #[arg(long, value_name = "NAME", default_value = crate::policy::BASELINE)]
    pub lock: String,
    /// Set knobs of the lock. The option may be given several times; `lockwork locks`
    /// lists the knobs.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Which lock calls have their stacks recorded.
    #[arg(long, value_name = "WHICH", default_value = "contended")]
    pub stacks: Stacks,
    /// Print no report in the end; `lockwork report FILE` does.
    #[arg(long)]
    pub quiet: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true)]
    #[arg(value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Stacks that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stacks {
    /// Those of calls that find the lock held, a sample.
    Contended,
    /// Those of all calls that take a lock, which then says what calls it. Each takes microseconds
    /// more, while the lock is held.
    All,
    /// None: of each call only where it is.
    None,
}

impl Stacks {
    /// As the recorder reads it.
    pub fn name(self) -> &'static str {
        match self {
            Stacks::Contended => "contended",
            Stacks::All => "all",
            Stacks::None => "none",
        }
    }
}

/// Where the program's output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// To lockwork's own output.
    Inherit,
    /// To /dev/null.
    Null,
    /// To lockwork, which reads it for --metric and for error messages.
    Pipe,
}

/// Options of `lockwork compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The locks to compare with glibc, each as NAME or NAME:KNOB=VALUE[:KNOB=VALUE…]; all of
    /// `lockwork locks` if none is named, in a suite those that it names.
    #[arg(
        long,
        visible_alias = "lock",
        value_name = "LOCK",
        value_delimiter = ','
    )]
    pub locks: Vec<String>,
    /// Set knobs of all locks, except where --locks gives the knob another value. The
    /// option may be given several times.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Number of rounds. Each round runs every lock once. An even number balances their
    /// order [default: 10; with --suite what the file says, or else 6].
    #[arg(short = 'n', long, visible_alias = "rounds", value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: Option<u32>,
    /// Number of rounds that run first and are not counted [default: 1].
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub warmup: Option<u32>,
    /// Compare all programs of FILE with each of their numbers of threads, and print one
    /// table. docs/compare.md describes the file. --locks, --runs and --warmup replace
    /// what the file says.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = [
        "command", "metric", "higher_is_better", "lower_is_better", "plot", "output", "stdin",
        "prepare", "setup", "cleanup", "timeout", "csv", "markdown",
    ])]
    pub suite: Option<PathBuf>,
    /// What to measure: `wall` is the time that a run takes. Otherwise give a regular
    /// expression with one group, which matches a number in the program's output. The
    /// last match is used, of the last 4 MiB of output. The number may contain commas.
    #[arg(long, value_name = "wall|REGEX")]
    pub metric: Option<String>,
    /// Greater values are better (the default for a REGEX).
    #[arg(long, conflicts_with = "lower_is_better")]
    pub higher_is_better: bool,
    /// Smaller values are better (the default for wall).
    #[arg(long)]
    pub lower_is_better: bool,
    /// Write all results as JSON to FILE, with the raw numbers of each run. With `-`,
    /// JSON goes to standard output and the table to standard error.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a chart of Improve and its intervals to FILE, as SVG. Not with --suite.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write one HTML page to FILE: the table, the verdict, and charts of Improve and of the
    /// runs; with --suite, a chart of the ratios for each lock. It needs no network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a line for each lock to FILE as CSV: the mean, median, least and greatest value,
    /// and the other figures of the table, as plain numbers. Not with --suite.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the table and the verdict to FILE as Markdown. Not with --suite.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Fail if some lock is shown to be worse than glibc by more than PERCENT: if the upper
    /// end of the interval that the verdict uses is below it. With --suite in some row. The
    /// bound is on glibc alone: a lock fails also where the control, which only forwards calls,
    /// loses as much, and the message says so. At least 3 rounds are needed.
    #[arg(long, value_name = "PERCENT", value_parser = percent_worse)]
    pub fail_if_worse: Option<f64>,
    /// Stop a run after F times the time of glibc's slowest run, plus one second.
    #[arg(long, value_name = "F", default_value_t = 10.0, value_parser = factor)]
    pub timeout_factor: f64,
    /// Stop any run, glibc's as well, after so many seconds. Where glibc's takes longer, the
    /// comparison ends.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Run CMD by the shell before each run, the warm-up runs included. It is not measured,
    /// and has no lock.
    #[arg(long, value_name = "CMD")]
    pub prepare: Option<String>,
    /// Run CMD by the shell once, before the first run.
    #[arg(long, value_name = "CMD")]
    pub setup: Option<String>,
    /// Run CMD by the shell once, after the last run, after a failure or Ctrl-C as well.
    #[arg(long, value_name = "CMD")]
    pub cleanup: Option<String>,
    /// Where the program's output goes. The default is `null`, which keeps the last KiB of
    /// standard error and prints it if the program fails; with a REGEX metric, which needs
    /// the output, it is `pipe`.
    #[arg(long, value_enum)]
    pub output: Option<Output>,
    /// The program's standard input [default: /dev/null].
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// Seed of the order of runs and of the resampling.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Continue when the program fails. A run with an exit code other than 0 still
    /// counts, with a warning; a run that a signal ended does not.
    #[arg(long)]
    pub ignore_failure: bool,
    /// The program and its arguments. Without a program, the embedded workload runs.
    #[arg(trailing_var_arg = true)]
    #[arg(value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

impl CompareArgs {
    /// The files to write, by their options.
    pub fn outputs(&self) -> [(&str, Option<&Path>); 5] {
        [
            ("--json", self.json.as_deref()),
            ("--plot", self.plot.as_deref()),
            ("--html", self.html.as_deref()),
            ("--csv", self.csv.as_deref()),
            ("--markdown", self.markdown.as_deref()),
        ]
    }
}

/// Options of `lockwork workload`.
#[derive(Debug, Args)]
pub struct WorkloadArgs {
    /// Number of threads [default: 4 for each CPU].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Number of shards; each is a hash table with one mutex.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub shards: u32,
    /// Number of operations of all threads together.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub ops: u64,
    /// Number of different keys.
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub keys: u32,
    /// Number of entries that the cache can hold [default: half of --keys].
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub capacity: Option<u32>,
    /// Share of the operations that are reads, 0 to 1.
    #[arg(long, value_name = "R", default_value_t = 0.9, value_parser = ratio)]
    pub read_ratio: f64,
    /// Zipf exponent of the keys' popularity, 0 to 5; 0 is uniform.
    #[arg(long, value_name = "S", default_value_t = 0.99, value_parser = skew)]
    pub skew: f64,
    /// Seed of the choice of keys.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Options of `lockwork preload-path`.
#[derive(Debug, Args)]
pub struct PreloadPathArgs {
    /// Print the path of the control arm, which forwards every call to glibc.
    #[arg(long)]
    pub passthrough: bool,
    /// Print the path of the recorder of `lockwork profile`, which LOCKWORK_RECORD=FILE
    /// tells where to write. It comes before an interposer.
    #[arg(long, conflicts_with = "passthrough")]
    pub recorder: bool,
}

/// Options of `lockwork man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The directory of the pages.
    pub dir: PathBuf,
}

/// Options of `lockwork completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Options of `lockwork docs`.
#[derive(Debug, Args)]
pub struct DocsArgs {
    /// Write nothing; fail if a table is out of date.
    #[arg(long)]
    pub check: bool,
    /// The checkout, whose pages are in docs/.
    pub root: PathBuf,
}

/// The command, with each paragraph of its description in one line. So the terminal's width
/// breaks it, and not the width of the source.
fn filled(command: clap::Command) -> clap::Command {
    let Some(text) = command.get_long_about().map(ToString::to_string) else {
        return command;
    };
    let paragraphs: Vec<String> = text
        .split("\n\n")
        .map(|paragraph| paragraph.trim_end().replace('\n', " "))
        .collect();
    command.long_about(paragraphs.join("\n\n"))
}

/// Adds the list of knobs. It loads the simulated locks, so only `sim` calls it.
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

fn seconds(text: &str) -> Result<f64, String> {
    between(text, 0.001, 1e6)
}

fn percent_worse(text: &str) -> Result<f64, String> {
    between(text, 0.0, 99.0)
}

fn factor(text: &str) -> Result<f64, String> {
    between(text, 1.0, 1e6)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_terminal_breaks_the_lines_of_help() {
        let mut described = 0;
        for command in Cli::command().get_subcommands() {
            if let Some(text) = command.get_long_about() {
                described += 1;
                let text = text.to_string();
                let breaks = text.matches('\n').count();
                assert_eq!(breaks, 2 * text.matches("\n\n").count(), "{text}");
            }
        }
        assert!(described > 5, "{described}");
    }
}
