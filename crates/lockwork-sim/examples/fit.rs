// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fits a machine's file to the columns that its `[calibration]` names, and prints it:
//!
//! ```text
//! cargo run --release -p lockwork-sim --example fit -- data/machines/westmere-ex-4s.toml
//! ```
//!
//! The file is read for its topology, its calibration, and the numbers that are not fitted.
//! The same program and arguments print the same file.

use clap::Parser;
use lockwork_sim::reproduce::fit::{fit, Search};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
struct Args {
    /// The machine's file.
    file: PathBuf,
    /// Candidates anywhere in the range.
    #[arg(long, default_value_t = 800)]
    candidates: usize,
    /// How many of these, the best ones, are followed.
    #[arg(long, default_value_t = 1)]
    followed: usize,
    /// Rounds of eight steps from each.
    #[arg(long, default_value_t = 150)]
    rounds: usize,
    /// Of all that is random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Candidates that are simulated at the same time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let search = Search {
        candidates: args.candidates,
        followed: args.followed,
        rounds: args.rounds,
        seed: args.seed,
        jobs: args.jobs,
    };
    match fit(&args.file, &search, &mut |line| eprintln!("{line}")) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("fit: {error:#}");
            ExitCode::FAILURE
        }
    }
}
