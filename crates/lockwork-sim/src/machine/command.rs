// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command `lockwork machine`.

use std::fs;
use std::process::ExitCode;

use anyhow::{bail, Context, Result};
use lockwork_report::{table, text};

use super::args::{Command, CopyArgs, MachineArgs};
use super::shipped::{names, open, texts, Mistake};
use super::{measure, show};

/// Does what the arguments say. Failure: a file has a mistake.
///
/// # Errors
/// There is no such machine, or it cannot be measured or written.
pub fn run(args: &MachineArgs) -> Result<ExitCode> {
    match &args.command {
        Command::List => text::print(&list()?)?,
        Command::Show(args) => {
            let loaded = open(&args.machine)?;
            text::print(&if args.json {
                show::json(&loaded)?
            } else {
                show::text(&loaded)
            })?;
        }
        Command::Copy(args) => copy(args)?,
        Command::Validate { file } => return validate(file),
        Command::Measure(args) => return measure::run(args),
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<String> {
    let mut rows = Vec::new();
    for name in names() {
        let loaded = open(name)?;
        let machine = &loaded.machine;
        let mut row = vec![name.to_owned()];
        row.extend([machine.cpus(), machine.socket_count()].map(|n| n.to_string()));
        row.extend(loaded.file.bases().map(|n| n.to_string()));
        rows.push((row, machine.summary.clone()));
    }
    let header = [
        "Name",
        "CPUs",
        "Sockets",
        "Sourced",
        "Assumed",
        "Calibrated",
    ];
    let (rows, summaries): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let table = table::render(header, rows);
    // Summaries are text: behind the numbers, and to the left.
    let lines = table
        .lines()
        .zip(std::iter::once("Summary".to_owned()).chain(summaries));
    let width = table.lines().map(str::len).max().unwrap_or(0);
    let lines = lines.map(|(line, summary)| format!("{line:width$}  {summary}\n"));
    Ok(lines.collect::<String>()
        + "\n`lockwork machine show NAME` says where each number is from.\n")
}

/// Writes nothing unless all of it can be written.
fn copy(args: &CopyArgs) -> Result<()> {
    let (text, named) = texts(&args.machine)?;
    let mut files = vec![(args.file.clone(), text)];
    files.extend(named.into_iter().map(|(name, text)| {
        let beside = args.file.with_file_name(name);
        (beside, text)
    }));
    measure::is_toml(&args.file)?;
    for (file, _) in files.iter().filter(|_| !args.force) {
        if file.exists() {
            bail!(
                "{} already exists; give another name, or --force to overwrite it",
                file.display()
            );
        }
    }
    for (file, content) in &files {
        fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))?;
        text::print(&format!("{}: written\n", file.display()))?;
    }
    Ok(())
}

fn validate(file: &str) -> Result<ExitCode> {
    let loaded = match open(file) {
        Ok(loaded) => loaded,
        Err(error) if error.is::<Mistake>() => {
            text::complain(&format!("lockwork: {error:#}\n"));
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(error),
    };
    show::warn(&loaded.warnings);
    text::print(&format!("{file}: sound. {}\n", show::counts(&loaded)))?;
    Ok(ExitCode::SUCCESS)
}
