// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Torture from the command line, without the rest of the lab.
use clap::Parser;
use lockwork_torture::TortureArgs;
use std::process::ExitCode;

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    torture: TortureArgs,
}

fn main() -> ExitCode {
    lockwork_torture::run(&Args::parse().torture).unwrap_or_else(|err| {
        eprintln!("error: {err:#}");
        ExitCode::FAILURE
    })
}
