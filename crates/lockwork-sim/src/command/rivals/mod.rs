// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork rivals`: published locks beside ours, as docs/rivals.md has them.

mod ahead;
mod args;
mod charts;
mod found;
mod guests;
mod page;
mod parts;

pub use args::{RivalsArgs, AFTER_HELP, HELP};

use super::plan::Known;
use super::{commands, rows};
use anyhow::Result;
use found::Found;
use lockwork_report::machine::cpus;
use lockwork_report::{choice, page as report, plot, text};
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
    let page = args.check.as_deref().map(report::read).transpose()?;
    let charts = args.write.as_deref().map(charts_of).transpose()?;
    let name = args.write.as_deref().or(args.check.as_deref());
    let folder = name.map_or_else(|| "rivals".to_owned(), report::stem);
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
        (Some(path), _) => report::write(path, &format!("{}{sections}\n{behind}", page::HEAD))?,
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
    let plain = part.commands.iter().map(|command| (command, false));
    let yields = part.yields.iter().map(|command| (command, true));
    for (command, yields) in plain.chain(yields) {
        let plan = Arc::new(commands::plan(command, known)?);
        match commands::carry_out(&plan, jobs, &part.name)? {
            ControlFlow::Continue(done) if yields => found.add_yields(&plan, &rows(&plan, &done)),
            ControlFlow::Continue(done) => found.add(&plan, &rows(&plan, &done)),
            ControlFlow::Break(code) => return Ok(ControlFlow::Break(code)),
        }
    }
    Ok(ControlFlow::Continue(found))
}

/// Where the charts of the page are: page and folder can be written afterwards.
fn charts_of(page: &Path) -> Result<PathBuf> {
    let dir = report::folder(page)?;
    report::writable(page)?;
    plot::make(&dir)?;
    Ok(dir)
}

fn compared(path: &Path, parts: &[Part], differ: &[&str]) -> Result<ExitCode> {
    let (same, text) = page::KIND.compared(path, parts.len(), differ);
    if same {
        text::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    text::complain(&text);
    Ok(ExitCode::FAILURE)
}
