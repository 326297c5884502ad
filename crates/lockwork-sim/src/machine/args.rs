// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork machine`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `lockwork machine --help` begins with.
pub const HELP: &str = "\
Lists, shows, copies and validates the machines that `lockwork sim` simulates, and
measures the machine that this command runs on.

A file describes a machine: the topology of its CPUs, the latency of a cache line
from each distance, and the costs of a CPU's own steps and of the scheduler. Each
number has a source; a number that nobody has published or measured is marked as
assumed. A name that contains a / or ends in .toml is the path of such a file;
other names are machines that come with lockwork.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if `validate` found a mistake, 2 for a wrong command line, 125 if lockwork
  itself fails, 130 after Ctrl-C.

Examples:
  lockwork machine list
  lockwork machine show dl980
  lockwork machine copy dl980 mine.toml
  lockwork machine measure -o here.toml
  lockwork machine validate here.toml";

/// Options of `lockwork machine`.
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The subcommands of `lockwork machine`.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the machines that come with lockwork.
    List,
    /// Show a machine: its topology, and each number with its source.
    Show(ShowArgs),
    /// Write a copy of a machine's file, to change it.
    Copy(CopyArgs),
    /// Validate a machine's file, and report the line of each mistake.
    Validate {
        /// A machine's name, or the path of its file.
        file: String,
    },
    /// Measure the machine that this command runs on, and write its file.
    Measure(MeasureArgs),
}

/// Options of `lockwork machine show`.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// A machine's name, or the path of its file.
    pub(super) machine: String,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of `lockwork machine copy`.
#[derive(Debug, Args)]
pub(super) struct CopyArgs {
    /// A machine's name, or the path of its file.
    pub(super) machine: String,
    /// The file to write. Files that it names, with latencies, are written beside it.
    pub(super) file: PathBuf,
    /// Overwrite existing files.
    #[arg(long)]
    pub(super) force: bool,
}

/// Options of `lockwork machine measure`.
#[derive(Debug, Args)]
pub(super) struct MeasureArgs {
    /// The file to write. The latencies of all pairs of cores go into a .csv file
    /// beside it.
    #[arg(short, long, value_name = "FILE", default_value = "machine.toml")]
    pub(super) output: PathBuf,
    /// About how many seconds to measure the pairs of cores at most. A pair of which enough was
    /// measured ends before its share.
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = seconds)]
    pub(super) seconds: f64,
    /// CPUs to measure, as in 0-3,8 [default: all CPUs that this process may use]
    #[arg(long, value_name = "LIST")]
    pub(super) cpus: Option<String>,
    /// Overwrite existing files.
    #[arg(long)]
    pub(super) force: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 86_400.0 => Ok(number),
        _ => Err("it must be a number above 0, and at most 86400".into()),
    }
}
