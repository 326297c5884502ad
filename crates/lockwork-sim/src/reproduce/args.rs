// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork reproduce`.

/// What `lockwork reproduce --help` begins with.
pub const HELP: &str = "\
Compares the simulator with published measurements.

The mails that proposed these locks for the Linux kernel have tables of
measurements. This command simulates the cells of some of these tables on models
of the machines that were measured, and prints simulated and published values
side by side. --list counts the cells, and the published figures that the program
has. Cells to which the machine's file was fitted are marked. The figures below a
table are about the other cells: how many groups of cells have the published
order, how many cells are on the published side of the value that they are
compared with, and how large the errors are. Cells whose workload's think time was
chosen by the same table have a mark of their own, and are no predictions.

Each table has targets: against published figures, for one of Lockwork's own
locks, and that each cell has a value. The last lines count them apart, and say how
good all predictions together are. If a target is missed, the command fails.";

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
  lockwork reproduce mb-cache --without cluster-fill
        What the rule buys; docs/sim.md says what it is.
  lockwork reproduce --ablation spin-micro queue-head
        The same of all rules, in short.
  lockwork reproduce --list
        The tables, their machines and sources.";

/// Options of `lockwork reproduce`.
#[derive(Debug, Clone, clap::Args)]
pub struct ReproduceArgs {
    /// The tables, by their names in --list [default: all].
    #[arg(value_name = "TABLE")]
    pub tables: Vec<String>,
    /// Number of seeds of each simulation. A cell's value is their mean; with fewer than
    /// three its interval is that of parts of one simulation, which is too narrow
    /// [default: 3; with --ablation 1]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: Option<u64>,
    /// Leave a rule of the model out: cluster-fill, cache-order, smt-share, early-store,
    /// early-load, boost, island-first, plain-access, any-order or uneven-work. The option may
    /// be given several times.
    #[arg(long, value_name = "RULE")]
    pub without: Vec<String>,
    /// Simulate the tables with all rules, and without each one: what does it buy? A line
    /// for each table; no target is judged.
    #[arg(long, conflicts_with_all = ["json", "list", "without"])]
    pub ablation: bool,
    /// Simulations that run at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Print one JSON document.
    #[arg(long, conflicts_with_all = ["list", "markdown"])]
    pub json: bool,
    /// Print Markdown, as in docs/fidelity.md.
    #[arg(long, conflicts_with = "list")]
    pub markdown: bool,
    /// List the tables. Nothing is simulated.
    #[arg(long, conflicts_with_all = ["seeds", "without", "jobs"])]
    pub list: bool,
}
