// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork`: the Linux kernel's scalable locks, tried under an unmodified
//! program and measured.

mod cache;
mod cli;
mod compare;
mod elf;
mod environment;
mod error;
mod inherited;
mod knobs;
mod policy;
mod program;
mod run;
mod spec;
mod workload;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use error::OWN_ERROR;
use lockwork_report::text;

fn main() -> ExitCode {
    inherited::restore_sigpipe();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match dispatch(&cli.command) {
        Ok(code) => code,
        Err(error) => {
            text::complain(&format!("lockwork: {error:#}\n"));
            ExitCode::from(error::code_of(&error))
        }
    }
}

/// Help goes to standard output with code 0. A mistake under `run` ends with
/// the code that cannot be mistaken for the program's.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    let is_run = std::env::args_os().nth(1).is_some_and(|arg| arg == "run");
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        _ if is_run => ExitCode::from(OWN_ERROR),
        code => ExitCode::from(u8::try_from(code).unwrap_or(OWN_ERROR)),
    }
}

fn dispatch(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(args)?,
        Command::Compare(args) => return compare::compare(args),
        Command::Torture(args) => return lockwork_torture::run(args),
        Command::Check(args) => return lockwork_check::check(args),
        Command::Bench(args) => return lockwork_bench::run(args),
        Command::Sim(args) => return lockwork_sim::run(args),
        Command::Reproduce(args) => return lockwork_sim::reproduce::reproduce(args),
        Command::Machine(args) => return lockwork_sim::machine::run(args),
        Command::CheckWorker => return lockwork_check::check_worker(),
        Command::Locks => text::print(&locks())?,
        Command::Workload(args) => text::print(&workload::run(args)?)?,
        Command::PreloadPath(args) => {
            let library = if args.passthrough {
                &cache::PASSTHROUGH
            } else {
                &cache::PRELOAD
            };
            text::print(&format!("{}\n", library.unpack()?.display()))?;
        }
        Command::Man(args) => man(&args.dir)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn locks() -> String {
    format!(
        "Locks (--lock NAME):\n{}\n\nKnobs (--set KNOB=VALUE):\n{}\n",
        policy::list(policy::POLICIES),
        knobs::list()
    )
}

fn man(dir: &Path) -> Result<()> {
    let failed = || format!("cannot write man pages into {}", dir.display());
    std::fs::create_dir_all(dir).with_context(failed)?;
    clap_mangen::generate_to(Cli::command(), dir).with_context(failed)
}
