// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork machine`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `lockwork machine --help` begins with.
pub const HELP: &str = "\
Machines to simulate: those that come with lockwork, your own, and the one that
this runs on.

A machine is one file: where its CPUs are, what it costs to get a line from each
distance, what a CPU's own steps and the scheduler cost. Each number says where
it is from; what nobody has published or measured is said to be assumed. A name
with a / in it, or that ends in .toml, is the path of such a file.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if `check` found a mistake, 2 for a wrong command line, 125 if lockwork
  itself fails, 130 after Ctrl-C.

Examples:
  lockwork machine list
  lockwork machine show dl980
  lockwork machine measure -o here.toml
  lockwork machine check here.toml";

/// Options of `lockwork machine`.
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What to do with machines.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the machines that come with lockwork.
    List,
    /// Show a machine: its topology, and each number with its source.
    Show(ShowArgs),
    /// Check a machine's file; say which line is wrong.
    Check {
        /// The file, or a machine's name.
        file: String,
    },
    /// Measure the machine that this runs on, and write its file.
    Measure(MeasureArgs),
}

/// Options of `lockwork machine show`.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// A machine's name, or the path of its file.
    pub(super) machine: String,
    /// As JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of `lockwork machine measure`.
#[derive(Debug, Args)]
pub(super) struct MeasureArgs {
    /// The file to write; the matrix of all pairs of cores goes beside it, as
    /// .csv.
    #[arg(short, long, value_name = "FILE", default_value = "machine.toml")]
    pub(super) output: PathBuf,
    /// About how many seconds the pairs of cores may take together.
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = seconds)]
    pub(super) seconds: f64,
    /// CPUs to measure, as 0-3,8 [default: all that this may use]
    #[arg(long, value_name = "LIST")]
    pub(super) cpus: Option<String>,
    /// Overwrite files that are there.
    #[arg(long)]
    pub(super) force: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=86_400.0).contains(&number) => Ok(number),
        _ => Err("it must be a number from 0 to 86400".into()),
    }
}
