// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork rivals`: published locks beside ours, as docs/rivals.md has them.

mod ahead;
mod args;
mod charts;
mod found;
mod page;
mod parts;

pub use args::{RivalsArgs, AFTER_HELP, HELP};

use super::plan::Known;
use super::simulations::{self, End};
use super::{rows, told};
use anyhow::{bail, Context, Result};
use found::Found;
use lockwork_report::machine::cpus;
use lockwork_report::{choice, plot, text};
use parts::Part;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Does what the arguments of `lockwork rivals` say. Failure: a figure differs from the
/// page, or simulated threads got stuck.
///
/// # Errors
/// The arguments, a file or the host.
pub fn rivals(args: &RivalsArgs) -> Result<ExitCode> {
    let parts = choose(&args.parts)?;
    if args.list {
        let line = |part: &Part| format!("{}  {}\n", part.name, part.title);
        text::print(&parts.iter().map(line).collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let known = Known::load()?;
    let page = args.check.as_deref().map(read).transpose()?;
    let charts = args.write.as_deref().map(folder).transpose()?;
    let name = args.write.as_deref().or(args.check.as_deref());
    let folder = name.map_or_else(|| "rivals".to_owned(), stem);
    let jobs = args.jobs.map_or_else(cpus, |jobs| jobs as usize);
    let (mut sections, mut behind, mut differ) = (String::new(), Vec::new(), Vec::new());
    for part in &parts {
        let found = match simulate(part, &known, jobs)? {
            ControlFlow::Continue(found) => found,
            ControlFlow::Break(code) => return Ok(code),
        };
        if let Some(dir) = &charts {
            charts::draw(part, &found, dir)?;
        }
        let section = page::section(part, &found, &folder);
        if page.as_ref().is_some_and(|page| !page.contains(&section)) {
            differ.push(part.name.as_str());
        }
        sections += &format!("\n{section}");
        let (ahead, columns) = ahead::ahead(&found);
        behind.push((part, ahead, columns));
    }
    let behind = page::behind(&behind);
    match (&args.write, &args.check) {
        (Some(path), _) => write(path, &format!("{}{sections}\n{behind}", page::HEAD))?,
        (_, Some(path)) => return compared(path, &parts, &differ),
        _ => text::print(&format!("{sections}\n{behind}"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Those of these names, in the order of the page; all without names.
fn choose(names: &[String]) -> Result<Vec<Part>> {
    let all = parts::parts();
    if names.is_empty() {
        return Ok(all);
    }
    let chosen = choice::several("part", names, &[], &all, |part| &part.name)?;
    Ok(chosen.into_iter().cloned().collect())
}

/// Runs the commands of a part. Break: it is over, with this exit code.
fn simulate(part: &Part, known: &Known, jobs: usize) -> Result<ControlFlow<ExitCode, Found>> {
    let mut found = Found::default();
    for command in &part.commands {
        let plan = Arc::new(parts::plan(command, known)?);
        let (done, end) = simulations::run(&plan, jobs, crate::simulate, &mut |_| Ok(()))?;
        match end {
            End::Completed => found.add(&plan, &rows(&plan, &done)),
            End::Interrupted(signal) => {
                text::complain(&format!("lockwork: interrupted in {}\n", part.name));
                return Ok(ControlFlow::Break(signal.into()));
            }
            End::Stuck(job, stuck) => {
                text::complain(&told(&plan, job, &stuck));
                return Ok(ControlFlow::Break(ExitCode::FAILURE));
            }
        }
    }
    Ok(ControlFlow::Continue(found))
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read '{}'", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write '{}'", path.display()))
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Where the charts of the page are: the folder is there afterwards.
fn folder(path: &Path) -> Result<PathBuf> {
    if path.extension().is_none() {
        bail!(
            "'{}' is no page: its charts' folder would have the same name",
            path.display()
        );
    }
    let dir = path.with_file_name(stem(path));
    plot::make(&dir)?;
    Ok(dir)
}

fn compared(path: &Path, parts: &[Part], differ: &[&str]) -> Result<ExitCode> {
    if differ.is_empty() {
        let same = text::counted(parts.len(), "part");
        text::print(&format!("{}: {same} as simulated now\n", path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    text::complain(&format!(
        "lockwork: {}: not as simulated now: {}; write it anew with lockwork rivals --write\n",
        path.display(),
        differ.join(", ")
    ));
    Ok(ExitCode::FAILURE)
}
