// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork rivals`.

use std::path::PathBuf;

/// What `lockwork rivals --help` begins with.
pub const HELP: &str = "\
Compares Lockwork's locks with published ones, on simulated machines.

The rivals are written from their papers, and only simulations have them: see
`lockwork sim --list`. Each part of the comparison is some commands of `lockwork
sim`, which its section names. A section has throughput, the longest wait, fairness
and the cache lines that an acquisition moved; two parts have every machine, ours
against the fastest rival. The last section lists where a rival is ahead, and why.
With the same program, the same figures come out each time.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if --check finds a difference or simulated threads got stuck, 2 for a
  wrong command line, 125 if lockwork itself fails, 130 after Ctrl-C.

Examples:
  lockwork rivals --list
  lockwork rivals spin-graviton-3
  lockwork rivals --write docs/rivals.md
        All parts, and the charts beside the page.
  lockwork rivals spin-graviton-3 --check docs/rivals.md";

/// Options of `lockwork rivals`.
#[derive(Debug, Clone, clap::Args)]
pub struct RivalsArgs {
    /// The parts, by their names in --list [default: all].
    #[arg(value_name = "PART")]
    pub parts: Vec<String>,
    /// Write the page FILE, and its charts into a folder of the same name.
    #[arg(long, value_name = "FILE", conflicts_with = "parts")]
    pub write: Option<PathBuf>,
    /// Compare the parts with the page FILE, and fail if a figure differs.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    pub check: Option<PathBuf>,
    /// Simulations that run at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// List the parts. Nothing is simulated.
    #[arg(long, conflicts_with_all = ["write", "check"])]
    pub list: bool,
}
