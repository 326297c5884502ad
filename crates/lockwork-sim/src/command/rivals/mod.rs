// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork rivals`: published locks beside ours, as docs/rivals.md has them.

mod ahead;
mod args;
mod behind;
mod besides;
mod charts;
mod counters;
mod every;
mod every_page;
#[cfg(test)]
mod every_tests;
mod found;
mod guests;
mod mails;
mod page;
mod parts;
mod shared;
mod why;

pub use args::{RivalsArgs, AFTER_HELP, HELP};

use super::plan::Known;
use super::{commands, rows};
use ahead::Ahead;
use anyhow::Result;
use behind::Behind;
use counters::Counters;
use found::Found;
use lockwork_report::machine::cpus;
use lockwork_report::{choice, page as report, plot, table, text};
use parts::Part;
use shared::Shared;
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
        let rows = parts.iter().map(|part| (&part.name, &part.title));
        text::print(&table::described("", rows))?;
        return Ok(ExitCode::SUCCESS);
    }
    let known = Known::load()?;
    let page = args.check.as_deref().map(report::read).transpose()?;
    let charts = args.write.as_deref().map(charts_of).transpose()?;
    let name = args.write.as_deref().or(args.check.as_deref());
    let folder = name.map_or_else(|| "rivals".to_owned(), report::stem);
    let jobs = args.jobs.map_or_else(cpus, |jobs| jobs as usize);
    let (mut sections, mut behind, mut differ) = (String::new(), Vec::new(), Vec::new());
    let mut shared = Shared::default();
    for part in &parts {
        let (section, lost) = match every::kind(part) {
            Some(kind) => match every::simulate(part, &known, jobs, &mut shared)? {
                ControlFlow::Continue(all) => {
                    let lost = all.iter().filter(|of| of.is_new).map(|of| {
                        let part = format!("{}, {}", part.name, of.machine);
                        lost(part, &of.found, &of.counters)
                    });
                    if let Some(dir) = &charts {
                        charts::draw_every(part, &all, dir)?;
                    }
                    (
                        every_page::section(part, kind, &all, &folder),
                        lost.collect(),
                    )
                }
                ControlFlow::Break(code) => return Ok(code),
            },
            None => match simulate(part, &known, jobs, &mut shared)? {
                ControlFlow::Continue((found, counters)) => {
                    if let Some(dir) = &charts {
                        charts::draw(part, &found, dir)?;
                    }
                    let mut lost = lost(part.name.clone(), &found, &counters);
                    lost.has_guests = part.has_guests();
                    (page::section(part, &found, &folder), vec![lost])
                }
                ControlFlow::Break(code) => return Ok(code),
            },
        };
        if page.as_ref().is_some_and(|page| !page.contains(&section)) {
            differ.push(part.name.as_str());
        }
        sections += &format!("\n{section}");
        behind.extend(lost);
    }
    let behind = behind::section(&behind);
    match (&args.write, &args.check) {
        (Some(path), _) => report::write(path, &format!("{}{sections}\n{behind}", page::HEAD))?,
        (_, Some(path)) => return compared(path, &parts, &differ),
        _ => text::print(&format!("{sections}\n{behind}"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Those of these names, in the order of the page; all without names.
fn choose(names: &[String]) -> Result<Vec<Part>> {
    let all = every::all();
    if names.is_empty() {
        return Ok(all);
    }
    let chosen = choice::several("part", names, &[], &all, |part| &part.name)?;
    Ok(chosen.into_iter().cloned().collect())
}

/// Where a rival is ahead in a part, and why.
fn lost(part: String, found: &Found, counters: &Counters) -> Behind {
    let (ahead, columns) = ahead::ahead(found);
    let why = |one: Ahead| {
        let [rival, ours] = [one.rival.0, one.ours.0].map(|lock| counters.of(one.at, lock));
        let why = why::faster(&rival, &ours);
        (one, why)
    };
    Behind {
        part,
        has_guests: false,
        columns,
        lost: ahead.into_iter().map(why).collect(),
    }
}

/// Runs the commands of a part. Break: it is over, with this exit code.
fn simulate(
    part: &Part,
    known: &Known,
    jobs: usize,
    shared: &mut Shared,
) -> Result<ControlFlow<ExitCode, (Found, Counters)>> {
    let (mut found, mut counters) = (Found::default(), Counters::default());
    let (plain, yields) = (part.commands.len(), part.yields.len());
    for (at, command) in part.all().enumerate() {
        let plan = Arc::new(commands::plan(command, known)?);
        let done = match commands::carry_out(&plan, jobs, &part.name)? {
            ControlFlow::Continue(done) => done,
            ControlFlow::Break(code) => return Ok(ControlFlow::Break(code)),
        };
        let rows = rows(&plan, &done);
        match at.checked_sub(plain) {
            None => {
                found.add(&plan, &rows);
                let entries = shared::entries(&plan, &rows);
                for &threads in &plan.threads {
                    let column = entries.iter().filter(|one| one.threads == threads);
                    counters.add(column.map(|one| (one.lock, one.counter)));
                }
                shared.keep(command, &entries);
            }
            Some(at) if at < yields => found.add_yields(&plan, &rows, part.yields[at].0),
            Some(_) => found.add_beside(&plan, &rows),
        }
    }
    Ok(ControlFlow::Continue((found, counters)))
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
