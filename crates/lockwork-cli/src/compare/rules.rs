// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How often a program runs, and what ends a run: what `compare` says for one program
//! and a suite for many.

use std::path::PathBuf;
use std::time::Duration;

use crate::cli::CompareArgs;

/// Rounds that count, unless another number is given.
pub const RUNS: u32 = 10;
/// Rounds before them that do not.
pub const WARMUP: u32 = 1;

/// How a program is measured.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Rounds that count.
    pub runs: u32,
    /// Rounds before them.
    pub warmup: u32,
    /// Seeds the order and the resampling.
    pub seed: u64,
    /// When runs are stopped, in times of glibc's slowest run.
    pub timeout_factor: f64,
    /// When any run is stopped, glibc's as well.
    pub limit: Option<Duration>,
    /// Runs before each run, by the shell.
    pub prepare: Option<String>,
    /// Runs once before the first run.
    pub setup: Option<String>,
    /// Runs once after the last one.
    pub cleanup: Option<String>,
    /// The program's standard input.
    pub stdin: Option<PathBuf>,
    /// Does a run with another exit code than 0 count?
    pub ignore_failure: bool,
    /// Is the program the embedded workload?
    pub embedded: bool,
    /// How many comparisons with glibc there are, if not just one for each arm.
    pub comparisons: Option<usize>,
    /// What the progress bar begins with.
    pub label: String,
}

impl Rules {
    /// Those of a command line.
    pub fn of(args: &CompareArgs) -> Rules {
        Rules {
            runs: args.runs.unwrap_or(RUNS),
            warmup: args.warmup.unwrap_or(WARMUP),
            seed: args.seed,
            timeout_factor: args.timeout_factor,
            limit: args.timeout.map(Duration::from_secs_f64),
            prepare: args.prepare.clone(),
            setup: args.setup.clone(),
            cleanup: args.cleanup.clone(),
            stdin: args.stdin.clone(),
            ignore_failure: args.ignore_failure,
            embedded: args.command.is_empty(),
            comparisons: None,
            label: String::new(),
        }
    }
}
