// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork explain`.

use clap::{Arg, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// What `lockwork explain --help` begins with.
pub const HELP: &str = "\
Says what an acquisition of a lock cost, and why, in the same words in every world.

The worlds are the simulator (sim), the benchmark (bench), the stress test (torture)
and an unmodified program (behind --). Each lock has the same figures: acquisitions,
contended ones, locked instructions, lines moved and hand-overs by distance, sleeps,
wake-ups and useful ones, context switches, preempted holders, and CPU time. Then one
sentence says why, chosen by rules, with the figures that it rests on. What a world
cannot see is `not seen here`, never 0, and a line below says why.

The options of a world are behind its name, and are those of the command of that name.
A program runs once with a lock of Lockwork's (--lock), with the recorder of
`lockwork profile` and with the events of the locks counted.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if a lock failed or simulated threads got stuck, 2 for a wrong command line,
  125 if lockwork itself fails or nothing ran, 130 after Ctrl-C. With a program: as
  `lockwork profile`, so 125 also if nothing was recorded and the program ended with 0.

Examples:
  lockwork explain sim --machine epyc-9654 --lock mutex,mutex_numa --threads 16
  lockwork explain bench --locks lockwork.mutex,std.mutex --threads 4
  lockwork explain torture mutex --threads 16 --seconds 2
  lockwork explain --lock mutex -- ./server --bench
  lockwork explain --json sim --lock ticket_lock --threads 8";

/// Options of `lockwork explain`.
#[derive(Debug, Clone, clap::Args)]
pub struct ExplainArgs {
    /// The world; or a program behind `--`
    #[command(subcommand)]
    pub world: Option<World>,
    /// Print one JSON object for each lock, not tables.
    #[arg(long)]
    pub json: bool,
    /// Write the explanation to FILE [default: standard output; standard error after a
    /// program]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The lock that the program runs with; `lockwork locks` lists the locks
    /// [default: mutex]
    #[arg(long, value_name = "NAME")]
    pub lock: Option<String>,
    /// Set knobs of that lock. The option may be given several times.
    #[arg(long, value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// The program and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Where locks run.
#[derive(Debug, Clone, Subcommand)]
pub enum World {
    /// On a simulated machine; the options of `lockwork sim`.
    // What command.rs refuses is not listed.
    #[command(mut_args(|arg| hidden(arg, &["list", "plot", "timeline", "window"])))]
    Sim(Box<lockwork_sim::SimArgs>),
    /// In a loop on this machine; the options of `lockwork bench`.
    #[command(mut_args(|arg| {
        hidden(arg, &["list", "json", "from", "resume", "plots", "preset", "events"])
    }))]
    Bench(Box<lockwork_bench::BenchArgs>),
    /// Under a stress test; the options of `lockwork torture`.
    #[command(mut_args(|arg| hidden(arg, &["list", "properties"])))]
    Torture(lockwork_torture::TortureArgs),
}

/// The option, hidden from the help if it is one of `names`.
fn hidden(arg: Arg, names: &[&str]) -> Arg {
    let is_one = names.contains(&arg.get_id().as_str());
    arg.hide(is_one)
}
