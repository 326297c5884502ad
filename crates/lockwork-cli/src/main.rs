// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork`: runs unmodified programs with scalable locks; measures, model-checks and
//! simulates the locks.

mod cache;
mod cli;
mod compare;
mod completions;
mod docs;
mod elf;
mod environment;
mod error;
mod explain;
mod inherited;
mod knobs;
mod man;
mod mistakes;
mod pidfd;
mod policy;
mod profile;
mod program;
mod rival;
mod run;
mod spec;
mod trust;
mod workload;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use error::{OWN_ERROR, WRONG_USAGE};
use lockwork_report::text;

fn main() -> ExitCode {
    inherited::restore_sigpipe();
    inherited::heed_children();
    if inherited::stdout_was_closed() {
        text::stdout_was_closed();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&error),
    };
    let is_run = match &cli.command {
        Command::Run(_) | Command::Profile(_) => true,
        Command::Explain(args) => explain::is_program(args),
        _ => false,
    };
    match dispatch(&cli.command) {
        Ok(code) => code,
        Err(error) => {
            let error = rival::explained(&cli.command, error);
            text::complain(&format!("lockwork: {}\n", mistakes::with_causes(&error)));
            exit(error::code_of(&error), is_run)
        }
    }
}

/// Help goes to standard output with code 0; all else is a wrong command line.
fn not_parsed(error: &clap::Error) -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    match mistakes::told(error, &words) {
        Some(sentence) => text::complain(&format!("lockwork: {sentence}\n")),
        None => {
            if let Err(error) = printed(error) {
                text::complain(&format!("lockwork: {error:#}\n"));
                return ExitCode::from(OWN_ERROR);
            }
        }
    }
    let is = |name: &str| words.first().is_some_and(|word| word == name);
    let options = words.iter().take_while(|word| *word != "--");
    let has_mode = ["sim", "bench", "torture"]
        .iter()
        .any(|mode| options.clone().any(|word| word == mode));
    let has_program = !has_mode && options.count() < words.len();
    if is("explain") && !has_mode && !has_program && error.kind() == ErrorKind::UnknownArgument {
        text::complain("tip: a program stands behind '--': lockwork explain -- PROGRAM\n");
    }
    let is_run = is("run") || is("profile") || (is("explain") && has_program);
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        _ => exit(WRONG_USAGE, is_run),
    }
}

/// Prints help to standard output, a mistake to standard error.
fn printed(error: &clap::Error) -> Result<()> {
    if error.use_stderr() {
        let _ = error.print(); // nobody can be told if that fails
        return Ok(());
    }
    text::stdout_is_open()?;
    error.print().context("cannot write to standard output")
}

/// Many programs end with code 2. After `run` and `profile` it is the program's, so that a wrong
/// command line has the code of our own failures, as with env(1) and timeout(1).
fn exit(code: u8, is_run: bool) -> ExitCode {
    match code {
        WRONG_USAGE if is_run => ExitCode::from(OWN_ERROR),
        code => ExitCode::from(code),
    }
}

fn dispatch(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) if args.count => return run::counted(args),
        Command::Run(args) => run::run(args)?,
        Command::Compare(args) => return compare::compare(args),
        Command::Profile(args) => return profile::profile(args),
        Command::Explain(args) => return explain::explain(args),
        Command::Report(args) => return lockwork_profile::report(args),
        Command::Predict(args) => return lockwork_predict::run(args),
        Command::Torture(args) => return lockwork_torture::run(args),
        Command::Check(args) => return lockwork_check::check(args),
        Command::Bench(args) => return lockwork_bench::run(args),
        Command::Sim(args) => return lockwork_sim::run(args),
        Command::Reproduce(args) => return lockwork_sim::reproduce::reproduce(args),
        Command::Rivals(args) => return lockwork_sim::rivals::rivals(args),
        Command::Answers(args) => return lockwork_answers::answers(args),
        Command::Machine(args) => return lockwork_sim::machine::run(args),
        Command::Kernel(args) => return lockwork_kernel::run(args, || cache::folder("kernel")),
        Command::CheckWorker => return lockwork_check::check_worker(),
        Command::Locks(args) => text::print(&locks(args.expert))?,
        Command::Workload(args) => text::print(&workload::run(args)?)?,
        Command::PreloadPath(args) => {
            let library = if args.passthrough {
                &cache::PASSTHROUGH
            } else if args.recorder {
                &cache::RECORD
            } else {
                &cache::PRELOAD
            };
            text::print(&format!("{}\n", library.unpack()?.display()))?;
        }
        Command::Man(args) => man::write(Cli::command(), &args.dir)
            .with_context(|| format!("cannot write man pages into {}", args.dir.display()))?,
        Command::Completions(args) => {
            text::print(&completions::script(&Cli::command(), args.shell)?)?;
        }
        Command::Docs(args) => docs::run(&args.root, args.check)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn locks(expert: bool) -> String {
    let more = match expert {
        true => "",
        false => "\nlockwork locks --expert lists the knobs that are for measurements only.\n",
    };
    format!(
        "Locks (--lock NAME):\n{}\n\nKnobs (--set KNOB=VALUE):\n{}\n{more}",
        policy::list(policy::POLICIES),
        knobs::list(expert)
    )
}
