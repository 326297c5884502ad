// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork reproduce`.

/// What `lockwork reproduce --help` begins with.
pub const HELP: &str = "\
Holds the simulator against published measurements.

Each table of the patch mails that the locks come from is simulated cell by
cell, on a model of the machine it was measured on, and printed beside what was
published. A cell that the machine's file was fitted to is marked; the figures
below a table are about the others, which are predictions: how many groups of
cells are in the published order, how many cells are on the published side of
what they are compared with, and how far off the values are.

Each table has targets. One that is missed makes the command fail.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if a target is missed, 2 for a wrong command line, 125 if lockwork
  itself fails, 130 after Ctrl-C.

Examples:
  lockwork reproduce
        All tables.
  lockwork reproduce spin-micro
  lockwork reproduce --markdown > tables.md
  lockwork reproduce --list
        The tables, their machines and sources.";

/// Options of `lockwork reproduce`.
#[derive(Debug, Clone, clap::Args)]
pub struct ReproduceArgs {
    /// The tables; without any, all. See --list.
    #[arg(value_name = "TABLE")]
    pub tables: Vec<String>,
    /// Seeds of each simulation; a cell's value is the median.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Simulations at once [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Print one JSON document.
    #[arg(long, conflicts_with_all = ["list", "markdown"])]
    pub json: bool,
    /// Print Markdown, as in docs/fidelity.md.
    #[arg(long, conflicts_with = "list")]
    pub markdown: bool,
    /// List the tables; simulate nothing.
    #[arg(long)]
    pub list: bool,
}
